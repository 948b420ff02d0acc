#pragma once
// The largest cycle ratio of an expansion whose firings can be put in an order.
#include <optional>
#include <vector>

#include "dataflow/cycle_ratio.h"

namespace millrace::dataflow {

/// The nodes such that each comes behind those it waits for in the same round. Nothing if some wait
/// for each other, or for themselves.
std::optional<std::vector<std::uint32_t>> firing_order(std::uint32_t nodes,
                                                       const std::vector<Wait>& waits);

/// The same ratio as largest_cycle_ratio, by sweeps: each looks at all waits in this order, as if
/// one more round were executed. Nothing if its numbers need more than 62 bits. Precondition: no
/// wait has negative tokens, and those without tokens agree with the order.
std::optional<CycleRatio> cycle_ratio_by_sweeps(const std::vector<std::uint32_t>& order,
                                                const std::vector<Wait>& waits);

}  // namespace millrace::dataflow
