#pragma once
// What FFmpeg's libraries hand out and want back. Part of the library that codecs.cpp loads.
extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libswscale/swscale.h>
}

#include <memory>

namespace millrace::application {

struct FreeInput {
  void operator()(AVFormatContext* input) const { avformat_close_input(&input); }
};
struct FreeOutput {
  void operator()(AVFormatContext* output) const {
    avio_closep(&output->pb);
    avformat_free_context(output);
  }
};
struct FreeOther {
  void operator()(AVCodecContext* codec) const { avcodec_free_context(&codec); }
  void operator()(AVPacket* packet) const { av_packet_free(&packet); }
  void operator()(AVFrame* frame) const { av_frame_free(&frame); }
  void operator()(SwsContext* scaler) const { sws_freeContext(scaler); }
};

using OwnedInput = std::unique_ptr<AVFormatContext, FreeInput>;
using OwnedOutput = std::unique_ptr<AVFormatContext, FreeOutput>;
template <class Thing>
using Owned = std::unique_ptr<Thing, FreeOther>;

}  // namespace millrace::application
