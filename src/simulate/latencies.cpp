#include "simulate/latencies.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace millrace::simulate {
namespace {

/// Times below 2^11 have a class each; of every further power of two there are 2^10 classes.
constexpr int bits = 10;

std::size_t class_of(Time time) {
  const auto value = static_cast<std::uint64_t>(time.count());
  const int shift = std::max(0, static_cast<int>(std::bit_width(value)) - (bits + 1));
  return static_cast<std::size_t>((static_cast<std::uint64_t>(shift) << bits) + (value >> shift));
}

/// The largest time of the class.
Time end_of_class(std::size_t index) {
  const std::size_t shift = index < (std::size_t{2} << bits) ? 0 : (index >> bits) - 1;
  const std::uint64_t value = index - (shift << bits);
  return Time(static_cast<std::int64_t>(((value + 1) << shift) - 1));
}

}  // namespace

void Latencies::add(Time time) {
  const std::size_t index = class_of(time);
  if (index >= classes_.size()) classes_.resize(index + 1);
  ++classes_[index];
  minimum_ = count_ == 0 ? time : std::min(minimum_, time);
  maximum_ = std::max(maximum_, time);
  sum_ += static_cast<double>(time.count());
  ++count_;
}

Time Latencies::percentile(double share) const {
  const auto rank = std::max<std::int64_t>(
      1, static_cast<std::int64_t>(std::ceil(share * static_cast<double>(count_))));
  std::int64_t below = 0;
  for (std::size_t i = 0; i < classes_.size(); ++i)
    if ((below += classes_[i]) >= rank) return std::clamp(end_of_class(i), minimum_, maximum_);
  return maximum_;
}

Time Latencies::mean() const {
  return Time(static_cast<std::int64_t>(std::llround(sum_ / static_cast<double>(count_))));
}

}  // namespace millrace::simulate
