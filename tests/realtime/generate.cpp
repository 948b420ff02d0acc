#include "generate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"

namespace millrace::realtime {

std::vector<double> uunifast(std::size_t count, double sum, Random& random) {
  std::vector<double> result;
  double left = sum;
  for (std::size_t i = 1; i < count; ++i) {
    const double next = left * std::pow(random.unit(), 1 / static_cast<double>(count - i));
    result.push_back(left - next);
    left = next;
  }
  result.push_back(left);
  return result;
}

std::vector<double> uunifast_discard(std::size_t count, double sum, Random& random) {
  for (int tries = 0; tries < 1'000'000; ++tries) {
    std::vector<double> result = uunifast(count, sum, random);
    if (std::ranges::none_of(result, [](double share) { return share > 1; })) return result;
  }
  throw InputError("UUniFast-discard",
                   fmt::format("found no {} utilisations of at most 1 with the sum {} in 1000000 "
                               "tries; RandFixedSum needs none",
                               count, sum));
}

namespace {

/// Where a point of the unit cube's slice lies among its simplices: the probability that the slice
/// of i + 1 coordinates, whose sum lies in the j-th unit interval, is entered through its upper
/// face.
class FixedSumTable {
 public:
  FixedSumTable(std::size_t count, double sum) : count_(count), rows_(count - 1) {
    const auto whole = std::clamp<double>(std::floor(sum), 0, static_cast<double>(count - 1));
    const double inside = std::clamp(sum, whole, whole + 1);
    // Volumes, of which only ratios matter; scaled so that the smallest does not vanish.
    std::vector<double> volumes(count + 1, 0);
    volumes[1] = std::numeric_limits<double>::max();
    for (std::size_t i = 2; i <= count; ++i) {
      std::vector<double> next(count + 1, 0);
      rows_[i - 2].resize(i);
      for (std::size_t j = 1; j <= i; ++j) {
        const double low = inside - whole + static_cast<double>(j) - 1;
        const double high = whole + static_cast<double>(i - j) + 1 - inside;
        const double size = static_cast<double>(i);
        const double from_same = volumes[j] * low / size;
        const double from_below = volumes[j - 1] * high / size;
        next[j] = from_same + from_below;
        const double all = next[j] + std::numeric_limits<double>::min();
        rows_[i - 2][j - 1] = high > low ? from_below / all : 1 - from_same / all;
      }
      volumes = std::move(next);
    }
    interval_ = static_cast<std::size_t>(whole) + 1;
  }

  std::vector<double> draw(double sum, Random& random) const {
    std::vector<double> result;
    double left = sum, offset = 0, scale = 1;
    std::size_t j = interval_;
    for (std::size_t i = count_ - 1; i >= 1; --i) {
      const bool enters_above = random.unit() <= rows_[i - 1][j - 1];
      const double shrink = std::pow(random.unit(), 1 / static_cast<double>(i));
      offset += (1 - shrink) * scale * left / static_cast<double>(i + 1);
      scale *= shrink;
      result.push_back(offset + (enters_above ? scale : 0));
      if (enters_above) {
        left -= 1;
        --j;
      }
    }
    result.push_back(offset + scale * left);
    return result;
  }

 private:
  std::size_t count_, interval_ = 1;
  std::vector<std::vector<double>> rows_;
};

}  // namespace

std::vector<double> rand_fixed_sum(std::size_t count, double sum, Random& random) {
  if (count == 1) return {sum};
  std::vector<double> result = FixedSumTable(count, sum).draw(sum, random);
  for (std::size_t i = count - 1; i > 0; --i) std::swap(result[i], result[random.below(i + 1)]);
  for (double& share : result) share = std::clamp(share, 0.0, 1.0);
  return result;
}

Time log_uniform_period(Time shortest, Time longest, Time granularity, Random& random) {
  const double low = std::log(static_cast<double>(shortest.count()));
  const double high = std::log(static_cast<double>((longest + granularity).count()));
  const double drawn = std::exp(low + (high - low) * random.unit());
  const auto steps = static_cast<std::int64_t>(drawn / static_cast<double>(granularity.count()));
  return std::clamp(steps * granularity, shortest, longest);
}

}  // namespace millrace::realtime
