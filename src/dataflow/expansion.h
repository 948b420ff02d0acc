#pragma once
// The homogeneous graph: a node for every firing of a round (Lee and Messerschmitt 1987).
#include <cstdint>
#include <limits>
#include <vector>

#include "dataflow/analysis.h"
#include "dataflow/component.h"

namespace millrace::dataflow {

/// Firings are numbered in an order in which a round can be executed, and what a firing waits for
/// is filed under it. Waits that follow from others and from the order of an actor's firings are
/// left out.
struct Expansion {
  static constexpr auto none = std::numeric_limits<std::uint32_t>::max();  // no firing, no kind

  /// What waits for the same phase along the same channel have in common: the firing can begin
  /// `time` after the other began, `tokens` rounds earlier.
  struct Kind {
    CycleStep step;  // whose end is waited for, and where
    std::int64_t time, tokens;
  };
  struct Wait {
    std::uint32_t to, kind;
  };
  std::vector<std::uint32_t> first;  // per firing, and an end: its first wait
  std::vector<Wait> waits;           // without tokens only for firings that come before
  std::vector<Kind> kinds;

  /// Firings that wait for each other. If there are any, the rest is not complete.
  std::vector<CycleStep> deadlock;

  std::uint32_t size() const { return static_cast<std::uint32_t>(first.size() - 1); }
};

/// Precondition: the firings of a round fit 32 bits.
Expansion expand(const Graph& graph, const Component& component);

}  // namespace millrace::dataflow
