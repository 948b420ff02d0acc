#pragma once
// Self-timed execution until a state recurs (Ghamarian et al. 2006).
#include <optional>

#include "dataflow/component.h"
#include "dataflow/fraction.h"

namespace millrace::dataflow {

struct Regime {
  bool dead = false;
  Fraction period;  // time of one round
};

/// Nothing if no state recurred within `max_firings`.
std::optional<Regime> periodic_regime(const Graph& graph, const Component& component,
                                      std::int64_t max_firings);

}  // namespace millrace::dataflow
