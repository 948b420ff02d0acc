#pragma once
// When the packets of live video came, and which are passed over because they came too late. Part
// of the library that codecs.cpp loads.
extern "C" {
#include <libavformat/avformat.h>
#include <libavutil/avstring.h>
#include <libavutil/frame.h>
}

#include <chrono>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>

#include "application/codecs/live_time.h"
#include "base/units.h"

namespace millrace::application {

struct Arrival {
  LiveTime::Moment at{};
  Time lag{};
};

/// Keeps when packets arrive, so that it can be asked for when their frames are decoded.
class Arrivals {
 public:
  /// `stream`: whose time stamps are the source's; null: they are not.
  Arrival note(const AVPacket& packet, const AVStream* stream) {
    constexpr std::size_t most = 256;
    last_.at = std::chrono::steady_clock::now();
    const std::int64_t stamp = packet.dts == AV_NOPTS_VALUE ? packet.pts : packet.dts;
    std::optional<Time> time;
    if (stream != nullptr && stamp != AV_NOPTS_VALUE)
      time = Time(av_rescale_q(stamp, stream->time_base, {1, 1'000'000'000}));
    last_.lag = time_.lag_of(last_.at, time);
    if (packet.pts != AV_NOPTS_VALUE) by_stamp_[packet.pts] = last_;
    if (by_stamp_.size() > most) by_stamp_.erase(by_stamp_.begin());
    return last_;
  }
  /// Arrival of the frame's packet; of the last packet if the frame has no time.
  Arrival of(const AVFrame& frame) {
    const auto found = by_stamp_.find(frame.best_effort_timestamp);
    if (found == by_stamp_.end()) return last_;
    const Arrival arrival = found->second;
    by_stamp_.erase(by_stamp_.begin(), std::next(found));
    return arrival;
  }

 private:
  LiveTime time_;
  Arrival last_;
  std::map<std::int64_t, Arrival> by_stamp_;
};

/// Passes packets over from where they are two seconds late until they are on time again.
class CatchingUp {
 public:
  bool skips(const Arrival& arrival, bool is_key) {
    constexpr std::chrono::milliseconds late{2000}, on_time{500}, longest{10'000};
    const bool was_behind = since_.has_value();
    if (!was_behind && !has_given_up_ && arrival.lag > late) since_ = arrival.at;
    has_begun_ = since_ && !was_behind;
    if (!since_) return false;
    has_given_up_ = arrival.at - *since_ > longest;  // no such picture comes, or it is no use
    if (has_given_up_ || (is_key && arrival.lag < on_time)) since_.reset();
    return since_.has_value();
  }
  /// With the last packet.
  bool has_begun() const { return has_begun_; }

 private:
  std::optional<LiveTime::Moment> since_;
  bool has_begun_ = false, has_given_up_ = false;
};

/// Others have those that FFmpeg makes up from a rate.
inline bool has_time_stamps(const AVFormatContext& input) {
  return av_match_list(input.iformat->name,
                       "rtsp,rtp,flv,live_flv,mpegts,hls,dash,matroska,mov,asf,nut,ogg", ',') > 0;
}

/// Frame by frame; play lists give some seconds at once.
inline bool is_sent_in_time(const AVFormatContext& input) {
  return av_match_list(input.iformat->name, "rtsp,rtp,flv,live_flv,mpegts", ',') > 0;
}

}  // namespace millrace::application
