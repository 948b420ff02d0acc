#include "realtime/equations.h"

#include <algorithm>
#include <array>

namespace millrace::realtime {
namespace {

bool competes_of_other_flows(const LocalView& view, const InterferingTask& interferer) {
  return !interferer.same_flow && interferer.task->priority >= view.task->priority;
}
bool competes_of_all_flows(const LocalView& view, const InterferingTask& interferer) {
  return interferer.task->priority >= view.task->priority;
}
bool is_of_other_flow(const LocalView&, const InterferingTask& interferer) {
  return !interferer.same_flow;
}
bool is_any(const LocalView&, const InterferingTask&) { return true; }
Time no_blocking(const LocalView&) { return {}; }

using Competes = bool (*)(const LocalView&, const InterferingTask&);

/// (4.1) and (5.3): r = C + sum of ceil((r + J) / P) C.
template <Competes competes>
Time finish_of_priorities(const LocalView& view, std::int64_t, Time) {
  return least_fixpoint(view.task->worst, [&](Time time) {
    Time demand = view.task->worst;
    for (const InterferingTask& interferer : view.interferers)
      if (competes(view, interferer))
        demand = plus(
            demand, times(interferer.task->worst,
                          ceiling(time + interferer.arrivals.jitter, interferer.arrivals.period)));
    return demand;
  });
}

/// (4.2) and (5.4): r = C + sum of the largest min(|s|, (ceil(P / P_e) + 1) |s_e|) successive
/// kernels.
template <Competes competes>
Time finish_of_queues(const LocalView& view, std::int64_t, Time) {
  Time end = view.task->worst;
  for (const InterferingTask& interferer : view.interferers) {
    if (!competes(view, interferer)) continue;
    const std::int64_t times_interfering =
        ceiling(view.arrivals.period, interferer.arrivals.period) + 1;
    end = plus(end, interferer.kernels->of(std::min(view.kernels->count(),
                                               times_interfering * interferer.kernels->count())));
  }
  return end;
}

constexpr std::array<PolicyRule, 4> equation_rules{{
    {finish_of_priorities<competes_of_other_flows>, competes_of_other_flows, no_blocking, nullptr,
     true, false, true},
    {finish_of_queues<is_of_other_flow>, is_of_other_flow, no_blocking, nullptr, true, false, true},
    {finish_of_priorities<competes_of_all_flows>, competes_of_all_flows, no_blocking, nullptr, true,
     false, true},
    {finish_of_queues<is_any>, is_any, no_blocking, nullptr, true, false, true},
}};

}  // namespace

const PolicyRule& rule_of(Equation equation) {
  return equation_rules[static_cast<std::size_t>(equation) - 1];
}

}  // namespace millrace::realtime
