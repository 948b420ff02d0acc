#pragma once
// The largest number for which something holds.
#include <cstdint>
#include <optional>

namespace millrace {

/// From `low` to `high`, both included. `holds` is asked for a number, and is true up to some one
/// and false beyond. Nothing: it is false for `low`.
template <class Holds>
std::optional<std::int64_t> largest_that(std::int64_t low, std::int64_t high, const Holds& holds) {
  if (!holds(low)) return std::nullopt;
  while (low < high) {
    const std::int64_t middle = low + (high - low + 1) / 2;
    if (holds(middle))
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

}  // namespace millrace
