#include "application/codecs/ffmpeg_reader.h"

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
}

#include <atomic>
#include <chrono>
#include <cmath>
#include <deque>
#include <memory>
#include <new>
#include <string_view>
#include <utility>
#include <vector>

#include "application/codecs/arrivals.h"
#include "application/codecs/ffmpeg_inputs.h"
#include "application/codecs/ffmpeg_owned.h"
#include "application/codecs/frame_conversion.h"
#include "application/codecs/video_time.h"

namespace millrace::application {
namespace {

using Clock = std::chrono::steady_clock;
using Options = std::vector<std::pair<const char*, std::string>>;

constexpr int most_failures = 4096;  // of packets between two frames

/// How long FFmpeg may wait, and whether it still has to.
struct Wait {
  std::chrono::milliseconds patience{30'000};
  std::shared_ptr<const std::atomic<bool>> is_over = {};
  Clock::time_point deadline{};

  void begin() { deadline = Clock::now() + patience; }
  bool has_ended() const { return Clock::now() > deadline || (is_over && *is_over); }
};

int has_ended(void* wait) { return static_cast<const Wait*>(wait)->has_ended() ? 1 : 0; }

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

struct How {
  bool is_live = false;
  AddressOptions options = {};  // of live video
};

class Reader {
 public:
  explicit Reader(const How& how)
      : wait_{how.options.patience, how.options.is_over},
        is_live_(how.is_live),
        wants_newest_(how.is_live && how.options.newest),
        may_skip_(how.options.newest) {}

  bool open(const std::string& where, const Options& options) {
    wait_.begin();
    const auto begin = Clock::now();
    // A decoder of several threads would hold frames of live video back.
    if (!open_input(where, options) || !open_decoder(is_live_ ? 1 : 0)) return false;
    note_what_waits(Clock::now() - begin);
    return true;
  }
  bool read(VideoFrame& frame) {
    wait_.begin();
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
  /// Frames that it shows, by the file. An MP4 or MOV file counts frames that its edits hide, too.
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
  bool has_end() const { return input_->duration > 0; }
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
    input->interrupt_callback = {has_ended, &wait_};
    AVDictionary* dictionary = nullptr;
    for (const auto& [name, value] : options) av_dict_set(&dictionary, name, value.c_str(), 0);
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
    has_stamps_ = has_time_stamps(*input_);
    may_skip_ = may_skip_ && is_sent_in_time(*input_);
    return packet_ && decoded_ && avcodec_open2(decoder_.get(), codec, nullptr) >= 0;
  }

  /// The stream's next one; false: there is none.
  bool read_packet() {
    while (true) {
      const int result = av_read_frame(input_.get(), packet_.get());
      if (result == AVERROR(EAGAIN) && !wait_.has_ended()) continue;
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
      if (!is_live_ || is_to_be_decoded(*packet_))
        avcodec_send_packet(decoder_.get(), packet_.get());
      av_packet_unref(packet_.get());
      return;
    }
    is_at_end_ = true;
    avcodec_send_packet(decoder_.get(), nullptr);
  }
  /// FFmpeg has looked at live video for seconds. Where only the newest picture is wanted and each
  /// stands alone, those that lie in its buffers are passed over.
  void note_what_waits(Clock::duration took) {
    constexpr std::chrono::milliseconds short_time{100};
    const AVCodecDescriptor* const codec = avcodec_descriptor_get(stream_->codecpar->codec_id);
    const bool stand_alone = codec != nullptr && (codec->props & AV_CODEC_PROP_INTRA_ONLY) != 0;
    if (wants_newest_ && stand_alone && !has_end() && took > short_time && input_->pb != nullptr)
      begin_ = input_->pb->pos;  // the end of its buffer
  }
  /// False: the reader has fallen behind the source, and passes over all until the next picture
  /// that needs no other one.
  bool is_to_be_decoded(const AVPacket& packet) {
    if (packet.pos >= 0 && packet.pos < begin_) {
      ++skipped_;
      return false;
    }
    const bool is_key = (packet.flags & AV_PKT_FLAG_KEY) != 0;
    const Arrival arrival = arrivals_.note(packet, has_stamps_ ? stream_ : nullptr);
    if (!may_skip_ || !catching_up_.skips(arrival, is_key)) return true;
    ++skipped_;
    if (catching_up_.has_begun()) avcodec_flush_buffers(decoder_.get());
    return false;
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
    const AVRational aspect = av_guess_sample_aspect_ratio(input_.get(), stream_, decoded_.get());
    const cv::Mat stored = conversion_.convert(*decoded_, aspect);
    if (stored.empty()) return false;
    frame.image = orientation_.applied_to(stored);
    frame.time = time_of(decoded_->best_effort_timestamp);
    frame.remark = remark_on(*decoded_);
    frame.skipped = std::exchange(skipped_, 0);
    if (!is_live_) return true;
    const Arrival arrival = arrivals_.of(*decoded_);
    frame.arrived = arrival.at;
    frame.lag = arrival.lag;
    if (!has_stamps_) frame.time.reset();
    return true;
  }
  std::optional<Time> time_of(std::int64_t timestamp) const {
    if (timestamp == AV_NOPTS_VALUE) return std::nullopt;
    const std::int64_t start = stream_->start_time == AV_NOPTS_VALUE ? 0 : stream_->start_time;
    return Time(av_rescale_q(timestamp - start, stream_->time_base, {1, 1'000'000'000}));
  }

  Wait wait_;  // before the input, which reads it
  OwnedInput input_;
  Owned<AVCodecContext> decoder_;
  Owned<AVPacket> packet_{av_packet_alloc()};
  Owned<AVFrame> decoded_{av_frame_alloc()};
  FrameConversion conversion_;
  AVStream* stream_ = nullptr;         // of the input
  std::deque<Owned<AVPacket>> ahead_;  // were read, and are not decoded
  Orientation orientation_;
  const bool is_live_, wants_newest_;
  std::int64_t begin_ = 0;  // byte of the stream
  bool may_skip_;
  bool has_stamps_ = false;  // of the source, not made up by FFmpeg
  Arrivals arrivals_;
  CatchingUp catching_up_;
  std::int64_t skipped_ = 0;  // since the last frame
  bool is_at_end_ = false;
};

VideoReader open_reader(const std::string& where, const Options& options, const How& how) {
  av_log_set_level(AV_LOG_QUIET);  // errors are ours
  const auto reader = std::make_shared<Reader>(how);
  if (!reader->open(where, options)) return {};
  // To learn the rate of live video so would hold its frames back.
  if (!how.is_live) reader->look_ahead();
  return {[reader](VideoFrame& frame) { return reader->read(frame); }, reader->rate_fps(),
          reader->frames(), reader->has_end()};
}

Options options_of(const AllowedInputs& allowed) {
  return {{"protocol_whitelist", allowed.protocol_whitelist},
          {"format_whitelist", allowed.format_whitelist}};
}

}  // namespace

VideoReader open_video_file(const std::string& path) {
  return open_reader(path, options_of(allowed_for_files()), {});
}

VideoReader open_video_address(const std::string& address, const AddressOptions& how) {
  Options options = options_of(allowed_for_address(address));
  options.emplace_back("rtsp_transport", "tcp");
  options.emplace_back("fpsprobesize", "0");
  return open_reader(address, options, {true, how});
}

}  // namespace millrace::application
