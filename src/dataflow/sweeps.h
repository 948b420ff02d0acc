#pragma once
// The largest cycle ratio of an expansion.
#include "dataflow/expansion.h"
#include "dataflow/fraction.h"

namespace millrace::dataflow {

struct ExpandedCycle {
  Fraction ratio;                    // of time to tokens; at least 0
  std::vector<std::uint32_t> kinds;  // of its waits, each beginning where the one before it ends
};

/// The cycle with the largest ratio, by sweeps: each looks at all waits in the order of the
/// firings, as if one more round were executed. InputError if sums exceed 126 bits. Precondition:
/// no deadlock.
ExpandedCycle slowest_cycle(const Expansion& expansion);

}  // namespace millrace::dataflow
