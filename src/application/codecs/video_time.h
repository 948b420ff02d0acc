#pragma once
// The time of frames, as they are read and as they are written.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/units.h"

namespace millrace::application {

/// Times of a video's frames that never go back. Joined recordings begin their time again; here it
/// goes on.
class ReadingTime {
 public:
  /// `rate_fps`: for frames without a time; 0: not known.
  explicit ReadingTime(double rate_fps)
      : step_(rate_fps > 0 ? time_from_seconds(1 / rate_fps) : Time{}) {}

  /// Time of the next frame, which the file says to be at `said`. None, if nobody knows.
  std::optional<Time> next(const std::optional<Time>& said) {
    if (!said && step_ == Time{}) return std::nullopt;
    Time now = said ? *said + offset_ : usual_;
    if (now < last_) {
      offset_ += usual_ - now;
      now = usual_;
    }
    last_ = now;
    usual_ = now + step_;
    return now;
  }

 private:
  Time step_;
  Time offset_{};
  Time last_ = Time::min();
  Time usual_{};  // of a frame without a time
};

/// Places of frames in a video of a fixed rate, so that each is shown at its time.
class WritingTime {
 public:
  explicit WritingTime(double rate_fps) : rate_fps_(rate_fps) {}

  /// How often the frame before is shown again before a frame that is due at `due`. None: the new
  /// one has no place, because the one before has it. A pause of more than ten minutes is left out.
  std::optional<std::int64_t> repeats_before(const std::optional<Time>& due) {
    constexpr std::chrono::minutes longest{10};
    if (!due) return take(0);
    const Time all = time_of(places_);
    if (places_ == 0 || *due - begin_ - all > longest) begin_ = *due - all;
    const auto place = static_cast<std::int64_t>(std::lround(seconds(*due - begin_) * rate_fps_));
    if (place < places_) return std::nullopt;
    return take(place - places_);
  }

 private:
  Time time_of(std::int64_t place) const {
    return time_from_seconds(static_cast<double>(place) / rate_fps_);
  }
  std::int64_t take(std::int64_t repeats) {
    places_ += repeats + 1;
    return repeats;
  }

  double rate_fps_;
  std::int64_t places_ = 0;  // that are taken
  Time begin_{};             // of place 0
};

struct FrameRates {
  double mean_fps = 0;    // 0: not known
  double finest_fps = 0;  // at which a file's time stamps look regular
};

/// At which frames of a varying rate have a place of their own in a video of a fixed rate: one of
/// the given rates, else that of the smallest distance, up to 60 frames/s. 0: not known.
/// `times`: of the first frames, in any order; none: only the rates are known.
inline double rate_with_places(std::vector<Time> times, const FrameRates& rates) {
  constexpr double highest_fps = 60;
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
  const auto fits = [&](double rate_fps) {
    WritingTime time(rate_fps);
    return rate_fps > 0 && std::all_of(times.begin(), times.end(), [&](Time each) {
             return time.repeats_before(each).has_value();
           });
  };
  const bool is_finer = rates.finest_fps > 1.1 * rates.mean_fps && rates.finest_fps <= highest_fps;
  const double usual_fps = is_finer ? rates.finest_fps : rates.mean_fps;
  if (times.size() < 2 || fits(usual_fps)) return usual_fps;
  if (rates.finest_fps <= highest_fps && fits(rates.finest_fps)) return rates.finest_fps;
  Time smallest = Time::max();
  for (std::size_t i = 1; i < times.size(); ++i)
    smallest = std::min(smallest, times[i] - times[i - 1]);
  // Where stamps are whole milliseconds, the distance may be too small by one.
  double needed_fps = 1 / seconds(smallest);
  const double whole_fps = std::floor(needed_fps);
  if (fits(whole_fps) && 1 / whole_fps - seconds(smallest) < 0.001) needed_fps = whole_fps;
  return std::max(usual_fps, std::min(needed_fps, highest_fps));
}

}  // namespace millrace::application
