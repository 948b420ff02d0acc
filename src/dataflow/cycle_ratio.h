#pragma once
// The cycle of a weighted graph with the largest ratio of time to tokens, exactly.
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "dataflow/fraction.h"

namespace millrace::dataflow {

/// The firing `from` can begin `time` after the firing `to` began, `tokens` rounds earlier.
struct Wait {
  std::uint32_t from, to;
  std::uint32_t channel;  // where the waiting happens
  std::int64_t time, tokens;
};
constexpr std::uint32_t own_order = std::numeric_limits<std::uint32_t>::max();  // Wait::channel

/// Waits may have negative tokens; a cycle whose tokens sum to 0 or less is impossible to satisfy
/// if it takes time or if they are negative.
struct CycleRatio {
  bool impossible = false;           // `cycle` cannot be satisfied
  Fraction ratio;                    // the largest, at least 0
  std::vector<std::uint32_t> cycle;  // its waits, each beginning where the one before it ends
};

/// Policy iteration (Howard) in integers: what it returns is the ratio of a cycle, and at the end a
/// schedule with that period violates no wait. InputError if sums exceed 126 bits.
CycleRatio largest_cycle_ratio(std::uint32_t nodes, const std::vector<Wait>& waits);

/// The same, unless more than `looks` looks at waits are needed; those taken are subtracted.
std::optional<CycleRatio> largest_cycle_ratio(std::uint32_t nodes, const std::vector<Wait>& waits,
                                              std::int64_t& looks);

}  // namespace millrace::dataflow
