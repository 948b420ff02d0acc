#pragma once
// How long things took, counted by upper bounds.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/units.h"

namespace millrace::serve {

/// Any thread adds and reads; nobody waits. Each number is whole by itself.
class Histogram {
 public:
  static constexpr std::array<double, 17> bounds_s{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.016,
                                                   0.025,  0.033, 0.05,   0.075, 0.1,  0.15,
                                                   0.25,   0.5,   1,      2.5,   10};
  struct Counts {
    std::array<std::int64_t, bounds_s.size() + 1> each{};  // between bounds; the last: above all
    double sum_s = 0;

    std::int64_t total() const {
      std::int64_t sum = 0;
      for (const std::int64_t count : each) sum += count;
      return sum;
    }
  };

  void add(Time time) {
    const auto bound = std::lower_bound(bounds_s.begin(), bounds_s.end(), seconds(time));
    counts_[static_cast<std::size_t>(bound - bounds_s.begin())].fetch_add(1, relaxed);
    sum_ns_.fetch_add(time.count(), relaxed);
  }
  Counts counts() const {
    Counts result;
    for (std::size_t i = 0; i < counts_.size(); ++i) result.each[i] = counts_[i].load(relaxed);
    result.sum_s = static_cast<double>(sum_ns_.load(relaxed)) / 1e9;
    return result;
  }

 private:
  static constexpr auto relaxed = std::memory_order_relaxed;
  std::array<std::atomic<std::int64_t>, bounds_s.size() + 1> counts_{};
  std::atomic<std::int64_t> sum_ns_{0};
};

}  // namespace millrace::serve
