#pragma once
// How old a frame of live video is when it is read.
#include <algorithm>
#include <chrono>
#include <optional>

#include "base/units.h"

namespace millrace::application {

/// Compares the source's time stamps with when frames arrive. The frame that took the shortest way
/// counts as on time; by how much another one took longer is its lag. A clock of the source that is
/// slower by less than 0.02 % makes none.
class LiveTime {
 public:
  using Moment = std::chrono::steady_clock::time_point;

  /// Lag of the next frame in the order in which they arrive; 0 where there is no stamp.
  Time lag_of(Moment arrived, const std::optional<Time>& stamp) {
    if (!stamp) return {};
    const Time offset = Time(arrived.time_since_epoch()) - *stamp;
    if (!last_stamp_ || begins_again(arrived, *stamp))
      least_ = offset;
    else
      least_ = std::min(offset, least_ + (arrived - last_arrived_) / slowest);
    last_stamp_ = stamp;
    last_arrived_ = arrived;
    return offset - least_;
  }

 private:
  static constexpr int slowest = 5000;
  static constexpr std::chrono::seconds longest_pause{10};

  /// Its stamps go back, or go on by far more than the time that has passed.
  bool begins_again(Moment arrived, Time stamp) const {
    const Time passed = stamp - *last_stamp_;
    return passed < -longest_back || passed > Time(arrived - last_arrived_) + longest_pause;
  }
  static constexpr std::chrono::seconds longest_back{1};  // frames may be out of order

  std::optional<Time> last_stamp_;
  Moment last_arrived_{};
  Time least_{};
};

}  // namespace millrace::application
