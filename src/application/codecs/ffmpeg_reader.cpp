#include "application/codecs/ffmpeg_reader.h"

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/display.h>
#include <libswscale/swscale.h>
}

#include <chrono>
#include <cmath>
#include <memory>
#include <utility>

namespace millrace::application {
namespace {

using Clock = std::chrono::steady_clock;
using Options = std::initializer_list<std::pair<const char*, const char*>>;

constexpr std::chrono::seconds patience{30};
constexpr int most_failures = 4096;  // of packets between two frames

struct Free {
  void operator()(AVFormatContext* input) const { avformat_close_input(&input); }
  void operator()(AVCodecContext* decoder) const { avcodec_free_context(&decoder); }
  void operator()(AVPacket* packet) const { av_packet_free(&packet); }
  void operator()(AVFrame* frame) const { av_frame_free(&frame); }
  void operator()(SwsContext* scaler) const { sws_freeContext(scaler); }
};
template <class Thing>
using Owned = std::unique_ptr<Thing, Free>;

int is_late(void* deadline) { return Clock::now() > *static_cast<Clock::time_point*>(deadline); }

const std::int32_t* display_matrix_of(const AVStream& stream) {
#if LIBAVCODEC_VERSION_MAJOR >= 61
  const AVPacketSideData* const data =
      av_packet_side_data_get(stream.codecpar->coded_side_data, stream.codecpar->nb_coded_side_data,
                              AV_PKT_DATA_DISPLAYMATRIX);
  return data == nullptr ? nullptr : reinterpret_cast<const std::int32_t*>(data->data);
#else
  return reinterpret_cast<const std::int32_t*>(
      av_stream_get_side_data(&stream, AV_PKT_DATA_DISPLAYMATRIX, nullptr));
#endif
}

/// What a frame lacks to be upright.
std::optional<int> turn_of(const AVStream& stream) {
  const std::int32_t* const matrix = display_matrix_of(stream);
  if (matrix == nullptr) return std::nullopt;
  const double angle = -av_display_rotation_get(matrix);  // clockwise, -180 to 180
  if (!std::isfinite(angle)) return std::nullopt;
  const long quarters = (std::lround(angle / 90) + 4) % 4;
  if (quarters == 0) return std::nullopt;
  return quarters == 1   ? cv::ROTATE_90_CLOCKWISE
         : quarters == 2 ? cv::ROTATE_180
                         : cv::ROTATE_90_COUNTERCLOCKWISE;
}

class Reader {
 public:
  bool open(const std::string& where, const Options& options, int threads) {
    deadline_ = Clock::now() + patience;
    return open_input(where, options) && open_decoder(threads);
  }
  bool read(VideoFrame& frame) {
    deadline_ = Clock::now() + patience;
    for (int failures = 0; failures < most_failures; ++failures) {
      const int result = avcodec_receive_frame(decoder_.get(), decoded_.get());
      if (result >= 0) return convert(frame);
      if (result == AVERROR_EOF) return false;
      if (!is_at_end_) feed();
    }
    return false;
  }
  /// At which all frames of a varying rate have a place of their own; the mean rate, if that would
  /// be very high. 0: not known.
  double rate_fps() const {
    constexpr double highest = 60;
    const double mean = rate(av_guess_frame_rate(input_.get(), stream_, nullptr));
    const double finest = rate(stream_->r_frame_rate);
    return finest > 1.1 * mean && finest <= highest ? finest : mean;
  }
  std::int64_t frames() const { return stream_->nb_frames; }

 private:
  static double rate(AVRational value) { return value.den > 0 ? av_q2d(value) : 0; }

  bool open_input(const std::string& where, const Options& options) {
    AVFormatContext* input = avformat_alloc_context();
    if (input == nullptr) return false;
    input->interrupt_callback = {is_late, &deadline_};
    AVDictionary* dictionary = nullptr;
    for (const auto& [name, value] : options) av_dict_set(&dictionary, name, value, 0);
    const int result = avformat_open_input(&input, where.c_str(), nullptr, &dictionary);
    av_dict_free(&dictionary);
    if (result < 0) return false;  // then it is freed
    input_.reset(input);
    return avformat_find_stream_info(input, nullptr) >= 0;
  }
  bool open_decoder(int threads) {
    const AVCodec* codec = nullptr;
    const int index = av_find_best_stream(input_.get(), AVMEDIA_TYPE_VIDEO, -1, -1, &codec, 0);
    if (index < 0 || codec == nullptr) return false;
    stream_ = input_->streams[index];
    for (unsigned i = 0; i < input_->nb_streams; ++i)
      if (input_->streams[i] != stream_) input_->streams[i]->discard = AVDISCARD_ALL;
    decoder_.reset(avcodec_alloc_context3(codec));
    if (!decoder_ || avcodec_parameters_to_context(decoder_.get(), stream_->codecpar) < 0)
      return false;
    decoder_->pkt_timebase = stream_->time_base;
    decoder_->thread_count = threads;
    turn_ = turn_of(*stream_);
    return packet_ && decoded_ && avcodec_open2(decoder_.get(), codec, nullptr) >= 0;
  }

  /// One packet to the decoder. What it cannot use, it passes over.
  void feed() {
    while (true) {
      const int result = av_read_frame(input_.get(), packet_.get());
      if (result == AVERROR(EAGAIN) && is_late(&deadline_) == 0) continue;
      if (result < 0) {
        is_at_end_ = true;
        avcodec_send_packet(decoder_.get(), nullptr);
        return;
      }
      const bool is_ours = packet_->stream_index == stream_->index;
      if (is_ours) avcodec_send_packet(decoder_.get(), packet_.get());
      av_packet_unref(packet_.get());
      if (is_ours) return;
    }
  }

  bool convert(VideoFrame& frame) {
    const int width = decoded_->width, height = decoded_->height;
    const auto format = static_cast<AVPixelFormat>(decoded_->format);
    scaler_.reset(sws_getCachedContext(scaler_.release(), width, height, format, width, height,
                                       AV_PIX_FMT_BGR24, SWS_BICUBIC, nullptr, nullptr, nullptr));
    shown_.reset(av_frame_alloc());
    if (!scaler_ || !shown_) return false;
    shown_->format = AV_PIX_FMT_BGR24;
    shown_->width = width;
    shown_->height = height;
    if (av_frame_get_buffer(shown_.get(), 0) < 0 ||
        sws_scale(scaler_.get(), decoded_->data, decoded_->linesize, 0, height, shown_->data,
                  shown_->linesize) != height)
      return false;
    const cv::Mat lying(height, width, CV_8UC3, shown_->data[0],
                        static_cast<std::size_t>(shown_->linesize[0]));
    frame.image = lying;
    if (turn_) frame.image = cv::Mat();
    if (turn_) cv::rotate(lying, frame.image, *turn_);
    frame.time = time_of(decoded_->best_effort_timestamp);
    return true;
  }
  std::optional<Time> time_of(std::int64_t timestamp) const {
    if (timestamp == AV_NOPTS_VALUE) return std::nullopt;
    const std::int64_t start = stream_->start_time == AV_NOPTS_VALUE ? 0 : stream_->start_time;
    return Time(av_rescale_q(timestamp - start, stream_->time_base, {1, 1'000'000'000}));
  }

  Clock::time_point deadline_;  // before the input, which reads it
  Owned<AVFormatContext> input_;
  Owned<AVCodecContext> decoder_;
  Owned<AVPacket> packet_{av_packet_alloc()};
  Owned<AVFrame> decoded_{av_frame_alloc()}, shown_;
  Owned<SwsContext> scaler_;
  AVStream* stream_ = nullptr;  // of the input
  std::optional<int> turn_;
  bool is_at_end_ = false;
};

VideoReader open_reader(const std::string& where, const Options& options, int threads) {
  av_log_set_level(AV_LOG_QUIET);  // errors are ours
  const auto reader = std::make_shared<Reader>();
  if (!reader->open(where, options, threads)) return {};
  return {[reader](VideoFrame& frame) { return reader->read(frame); }, reader->rate_fps(),
          reader->frames()};
}

}  // namespace

VideoReader open_video_file(const std::string& path) {
  return open_reader(path, {{"protocol_whitelist", "file"}}, 0);
}

// A decoder of several threads would hold frames back, and so would a look at many frames to learn
// their rate.
VideoReader open_video_address(const std::string& address) {
  return open_reader(address, {{"rtsp_transport", "tcp"}, {"fpsprobesize", "0"}}, 1);
}

}  // namespace millrace::application
