#include "application/codecs/ffmpeg_reader.h"

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libswscale/swscale.h>
}

#include <chrono>
#include <cmath>
#include <deque>
#include <memory>
#include <new>
#include <string_view>
#include <utility>
#include <vector>

#include "application/codecs/video_time.h"

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

/// What a frame lacks to be shown as its file says: first transposed, then mirrored.
struct Orientation {
  bool is_transposed = false, swaps_sides = false, is_upside_down = false;

  cv::Mat applied_to(const cv::Mat& stored) const {
    constexpr int vertically = 0, horizontally = 1, both = -1;
    cv::Mat turned = stored, mirrored;
    if (is_transposed) cv::transpose(stored, turned);
    if (!swaps_sides && !is_upside_down) return turned;
    cv::flip(turned, mirrored, !swaps_sides ? vertically : !is_upside_down ? horizontally : both);
    return mirrored;
  }
};

/// The matrix takes a pixel's place (x, y) to (a x + c y, b x + d y).
Orientation orientation_of(const AVStream& stream) {
  const std::int32_t* const matrix = display_matrix_of(stream);
  if (matrix == nullptr) return {};
  const double a = matrix[0], b = matrix[1], c = matrix[3], d = matrix[4];
  const bool is_transposed = std::abs(b) + std::abs(c) > std::abs(a) + std::abs(d);
  return is_transposed ? Orientation{true, c < 0, b < 0} : Orientation{false, a < 0, d < 0};
}

/// VP8 keeps pictures that are only for reference in packets of their own. (RFC 6386, section 9.1)
bool is_shown(const AVPacket& packet, AVCodecID codec) {
  constexpr int show_frame = 0x10;
  if ((packet.flags & AV_PKT_FLAG_DISCARD) != 0) return false;
  return codec != AV_CODEC_ID_VP8 || packet.size == 0 || (packet.data[0] & show_frame) != 0;
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
  double rate_fps() const {
    return rate_with_places(
        times_ahead(),
        {rate(av_guess_frame_rate(input_.get(), stream_, nullptr)), rate(stream_->r_frame_rate)});
  }
  /// That are shown, as the file says. An MP4 or MOV file counts frames that its edits hide, too.
  std::int64_t frames() const {
    const int entries = avformat_index_get_entries_count(stream_);
    const bool has_edits = std::string_view(input_->iformat->name).find("mp4") != std::string::npos;
    if (!has_edits || entries == 0) return stream_->nb_frames;
    std::int64_t shown = 0;
    for (int i = 0; i < entries; ++i) {
      const AVIndexEntry* const entry = avformat_index_get_entry(stream_, i);
      if (entry != nullptr && (entry->flags & AVINDEX_DISCARD_FRAME) == 0) ++shown;
    }
    return shown;
  }
  /// Reads the first packets, whose times tell how far frames are apart. The decoder gets them
  /// when its turn comes.
  void look_ahead() {
    constexpr std::size_t most_packets = 128;
    constexpr std::int64_t most_bytes = 32 << 20;
    std::int64_t bytes = 0;
    while (ahead_.size() < most_packets && bytes < most_bytes && read_packet()) {
      bytes += packet_->size;
      Owned<AVPacket> packet(av_packet_alloc());
      if (!packet) throw std::bad_alloc();
      av_packet_move_ref(packet.get(), packet_.get());
      ahead_.push_back(std::move(packet));
    }
  }

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
    orientation_ = orientation_of(*stream_);
    return packet_ && decoded_ && avcodec_open2(decoder_.get(), codec, nullptr) >= 0;
  }

  /// The stream's next one; false: there is none.
  bool read_packet() {
    while (true) {
      const int result = av_read_frame(input_.get(), packet_.get());
      if (result == AVERROR(EAGAIN) && is_late(&deadline_) == 0) continue;
      if (result < 0) return false;
      if (packet_->stream_index == stream_->index) return true;
      av_packet_unref(packet_.get());
    }
  }
  /// One packet to the decoder. What it cannot use, it passes over.
  void feed() {
    if (!ahead_.empty()) {
      avcodec_send_packet(decoder_.get(), ahead_.front().get());
      ahead_.pop_front();
      return;
    }
    if (read_packet()) {
      avcodec_send_packet(decoder_.get(), packet_.get());
      av_packet_unref(packet_.get());
      return;
    }
    is_at_end_ = true;
    avcodec_send_packet(decoder_.get(), nullptr);
  }
  std::vector<Time> times_ahead() const {
    std::vector<Time> times;
    for (const auto& packet : ahead_) {
      if (!is_shown(*packet, stream_->codecpar->codec_id)) continue;
      const auto time = time_of(packet->pts == AV_NOPTS_VALUE ? packet->dts : packet->pts);
      if (time) times.push_back(*time);
    }
    return times;
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
    const cv::Mat stored(height, width, CV_8UC3, shown_->data[0],
                         static_cast<std::size_t>(shown_->linesize[0]));
    frame.image = orientation_.applied_to(stored);
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
  AVStream* stream_ = nullptr;         // of the input
  std::deque<Owned<AVPacket>> ahead_;  // were read, and are not decoded
  Orientation orientation_;
  bool is_at_end_ = false;
};

VideoReader open_reader(const std::string& where, const Options& options, bool is_live) {
  av_log_set_level(AV_LOG_QUIET);  // errors are ours
  const auto reader = std::make_shared<Reader>();
  // A decoder of several threads would hold frames of live video back, and so would a look at many
  // frames to learn their rate.
  if (!reader->open(where, options, is_live ? 1 : 0)) return {};
  if (!is_live) reader->look_ahead();
  return {[reader](VideoFrame& frame) { return reader->read(frame); }, reader->rate_fps(),
          reader->frames()};
}

}  // namespace

VideoReader open_video_file(const std::string& path) {
  return open_reader(path, {{"protocol_whitelist", "file"}}, false);
}

VideoReader open_video_address(const std::string& address) {
  return open_reader(address, {{"rtsp_transport", "tcp"}, {"fpsprobesize", "0"}}, true);
}

}  // namespace millrace::application
