#pragma once
// How much work it is to play or to simulate a program, before it begins: files come from anywhere.
#include "workload/workload.h"

namespace millrace::workload {

/// As floating-point numbers, so that nothing overflows.
struct Effort {
  double turns = 0;    // steps times links: of a simulation
  double touched = 0;  // bytes that all runs read and write: of a check
  double marked = 0;   // bytes of all buffers
};
Effort effort_of(const Workload& workload);

/// Limit for a file, in all its workloads together: simulating it takes seconds.
inline constexpr double most_turns = 1 << 26;
/// Limits for a workload that is checked: some minutes, and a mark for each byte.
inline constexpr double most_touched = std::int64_t{1} << 38;
inline constexpr double most_marked = std::int64_t{1} << 32;

}  // namespace millrace::workload
