#include "application/codecs/ffmpeg_writer.h"

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libswscale/swscale.h>
}

#include <cstdint>
#include <memory>
#include <string_view>

#include "application/codecs/ffmpeg_owned.h"

namespace millrace::application {
namespace {

constexpr int finest_ticks = 65535;  // of MPEG-4, in a second

/// Duration of a frame, in seconds.
AVRational duration_at(double rate_fps) {
  constexpr int most_whole = 1 << 20;
  if (rate_fps >= 1) return av_inv_q(av_d2q(rate_fps, finest_ticks));
  return av_d2q(1 / rate_fps, rate_fps < 1e-3 ? most_whole : finest_ticks);
}

struct Codec {
  AVCodecID id = AV_CODEC_ID_NONE;
  AVPixelFormat pixels = AV_PIX_FMT_NONE;
  AVColorRange range = AVCOL_RANGE_UNSPECIFIED;
};

Codec codec_called(std::string_view name) {
  if (name == "MJPG") return {AV_CODEC_ID_MJPEG, AV_PIX_FMT_YUVJ420P, AVCOL_RANGE_JPEG};
  return {AV_CODEC_ID_MPEG4, AV_PIX_FMT_YUV420P, AVCOL_RANGE_MPEG};
}

class Writer {
 public:
  Writer() = default;
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  ~Writer() {
    if (!has_begun_) return;
    encode(nullptr);
    av_write_trailer(output_.get());
  }

  bool open(const std::string& path, const VideoFormat& format) {
    AVFormatContext* output = nullptr;
    if (avformat_alloc_output_context2(&output, nullptr, nullptr, path.c_str()) < 0) return false;
    output_.reset(output);
    output->flags |= AVFMT_FLAG_FLUSH_PACKETS;
    if (!open_encoder(format) || !open_frame(format)) return false;
    if (avio_open(&output->pb, path.c_str(), AVIO_FLAG_WRITE) < 0) return false;
    AVDictionary* options = nullptr;
    if (format.in_fragments)
      av_dict_set(&options, "movflags", "frag_keyframe+empty_moov+default_base_moof", 0);
    av_dict_set(&options, "cluster_time_limit", "1000", 0);  // of Matroska, in ms
    has_begun_ = avformat_write_header(output, &options) >= 0;
    av_dict_free(&options);
    return has_begun_;
  }

  /// A frame that cannot be written is missing when the file is read again.
  void write(const cv::Mat& image) {
    const std::uint8_t* const data[] = {image.data};
    const int strides[] = {static_cast<int>(image.step[0])};
    if (image.size() != size_ || av_frame_make_writable(frame_.get()) < 0) return;
    sws_scale(scaler_.get(), data, strides, 0, image.rows, frame_->data, frame_->linesize);
    frame_->pts = next_++;
    encode(frame_.get());
  }

 private:
  bool open_encoder(const VideoFormat& format) {
    constexpr int quality = 3;            // from 1, the best, to 31
    constexpr int frames_of_a_piece = 12;  // that can be read without the ones before
    const Codec codec = codec_called(format.codec);
    const AVCodec* const encoder = avcodec_find_encoder(codec.id);
    stream_ = avformat_new_stream(output_.get(), nullptr);
    if (encoder == nullptr || stream_ == nullptr) return false;
    encoder_.reset(avcodec_alloc_context3(encoder));
    if (!encoder_) return false;
    encoder_->width = format.size.width;
    encoder_->height = format.size.height;
    encoder_->time_base = duration_at(format.rate_fps);
    encoder_->framerate = av_inv_q(encoder_->time_base);
    encoder_->pix_fmt = codec.pixels;
    encoder_->color_range = codec.range;
    encoder_->colorspace = AVCOL_SPC_SMPTE170M;
    encoder_->gop_size = frames_of_a_piece;
    encoder_->flags |= AV_CODEC_FLAG_QSCALE;
    encoder_->global_quality = FF_QP2LAMBDA * quality;
    if ((output_->oformat->flags & AVFMT_GLOBALHEADER) != 0)
      encoder_->flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
    stream_->time_base = encoder_->time_base;
    stream_->avg_frame_rate = encoder_->framerate;
    return avcodec_open2(encoder_.get(), encoder, nullptr) >= 0 &&
           avcodec_parameters_from_context(stream_->codecpar, encoder_.get()) >= 0;
  }
  bool open_frame(const VideoFormat& format) {
    size_ = format.size;
    frame_->format = encoder_->pix_fmt;
    frame_->width = size_.width;
    frame_->height = size_.height;
    frame_->quality = encoder_->global_quality;
    frame_->color_range = encoder_->color_range;
    frame_->colorspace = encoder_->colorspace;
    scaler_.reset(sws_getContext(size_.width, size_.height, AV_PIX_FMT_BGR24, size_.width,
                                 size_.height, encoder_->pix_fmt, SWS_BICUBIC | SWS_ACCURATE_RND,
                                 nullptr, nullptr, nullptr));
    if (!packet_ || !frame_ || !scaler_ || av_frame_get_buffer(frame_.get(), 0) < 0) return false;
    constexpr int one = 1 << 16;
    const int* const matrix = sws_getCoefficients(SWS_CS_SMPTE170M);
    sws_setColorspaceDetails(scaler_.get(), matrix, 1, matrix,
                             encoder_->color_range == AVCOL_RANGE_JPEG ? 1 : 0, 0, one, one);
    return true;
  }
  /// Null: the end.
  void encode(const AVFrame* frame) {
    avcodec_send_frame(encoder_.get(), frame);
    while (avcodec_receive_packet(encoder_.get(), packet_.get()) >= 0) {
      packet_->stream_index = stream_->index;
      packet_->duration = 1;
      av_packet_rescale_ts(packet_.get(), encoder_->time_base, stream_->time_base);
      av_interleaved_write_frame(output_.get(), packet_.get());
    }
  }

  OwnedOutput output_;
  Owned<AVCodecContext> encoder_;
  Owned<AVPacket> packet_{av_packet_alloc()};
  Owned<AVFrame> frame_{av_frame_alloc()};
  Owned<SwsContext> scaler_;
  AVStream* stream_ = nullptr;  // of the output
  cv::Size size_;
  std::int64_t next_ = 0;
  bool has_begun_ = false;
};

}  // namespace

VideoWriter create_video_file(const std::string& path, const VideoFormat& format) {
  av_log_set_level(AV_LOG_QUIET);  // errors are ours
  if (format.rate_fps > finest_ticks || format.size.empty()) return {};
  const auto writer = std::make_shared<Writer>();
  if (!writer->open(path, format)) return {};
  return [writer](const cv::Mat& image) { writer->write(image); };
}

}  // namespace millrace::application
