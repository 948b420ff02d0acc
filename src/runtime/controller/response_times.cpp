#include "runtime/controller/response_times.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace millrace::runtime {
namespace {

// An octave has so many bins; times of 2^46 ns, 20 hours, and more share the last one.
constexpr int bits_in_octave = 5;
constexpr std::uint64_t per_octave = 1u << bits_in_octave;
constexpr int octaves = 46 - bits_in_octave;

std::size_t bin_of(std::uint64_t nanoseconds) {
  if (nanoseconds < per_octave) return nanoseconds;
  const int shift = static_cast<int>(std::bit_width(nanoseconds)) - 1 - bits_in_octave;
  return static_cast<std::size_t>(shift) * per_octave + (nanoseconds >> shift);
}

/// The largest time in it.
std::uint64_t end_of(std::size_t bin) {
  if (bin < 2 * per_octave) return bin;
  const std::uint64_t shift = bin / per_octave - 1;
  return ((bin - shift * per_octave + 1) << shift) - 1;
}

}  // namespace

ResponseTimes::ResponseTimes() : bins_((octaves + 2) * per_octave) {}

void ResponseTimes::add(Time time) {
  const Time counted = std::max(time, Time{});
  ++bins_[std::min(bin_of(static_cast<std::uint64_t>(counted.count())), bins_.size() - 1)];
  ++count_;
  sum_ += counted;
  largest_ = std::max(largest_, counted);
}

Time ResponseTimes::percentile(double share) const {
  if (count_ == 0) return {};
  const auto rank = std::max<std::int64_t>(
      1, static_cast<std::int64_t>(std::ceil(share * static_cast<double>(count_))));
  std::int64_t seen = 0;
  for (std::size_t bin = 0; bin + 1 < bins_.size(); ++bin)
    if ((seen += bins_[bin]) >= rank)
      return std::min(largest_, Time(static_cast<std::int64_t>(end_of(bin))));
  return largest_;
}

}  // namespace millrace::runtime
