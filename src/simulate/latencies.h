#pragma once
// Percentiles of any number of times in bounded memory.
#include <cstdint>
#include <vector>

#include "base/units.h"

namespace millrace::simulate {

/// A histogram whose classes are at most 1/1024 of their times wide: percentiles are never too
/// small and at most 0.1 % too large; times below 2 us, minimum, maximum and mean are exact. It
/// takes at most half a MiB.
class Latencies {
 public:
  /// Precondition: not negative.
  void add(Time time);
  std::int64_t count() const { return count_; }

  /// Precondition, here and below: not empty.
  Time percentile(double share) const;  // nearest rank
  Time minimum() const { return minimum_; }
  Time maximum() const { return maximum_; }
  Time mean() const;

 private:
  std::vector<std::int64_t> classes_;  // as many as the largest time needs
  std::int64_t count_ = 0;
  double sum_ = 0;
  Time minimum_{}, maximum_{};
};

}  // namespace millrace::simulate
