#pragma once
// How long something took, as often as it happened, in memory that does not grow.
#include <cstdint>
#include <vector>

#include "base/units.h"

namespace millrace::runtime {

/// Counts times in bins that are 3 % wide; the largest one is exact. Not thread-safe.
class ResponseTimes {
 public:
  ResponseTimes();
  /// Negative ones count as 0.
  void add(Time time);

  std::int64_t count() const { return count_; }
  Time largest() const { return largest_; }
  Time mean() const { return count_ > 0 ? sum_ / count_ : Time{}; }
  /// Nearest rank, rounded up to the end of its bin. Zero if there are none.
  Time percentile(double share) const;

 private:
  std::vector<std::int64_t> bins_;
  std::int64_t count_ = 0;
  Time sum_{}, largest_{};
};

}  // namespace millrace::runtime
