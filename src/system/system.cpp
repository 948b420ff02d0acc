#include "system/system.h"

#include <algorithm>
#include <cmath>

namespace millrace::system {

Time period_of(const System& system, GroupId group, std::int64_t level) {
  const Rates& rates = system[group].rates;
  const double share =
      system.levels <= 1 ? 1 : static_cast<double>(level) / static_cast<double>(system.levels - 1);
  const double rate = rates.least_fps + (rates.most_fps - rates.least_fps) * share;
  constexpr double last_digits = 1 + 4.5e-16;  // the rate of a period of 66 ms leads back to it
  return Time(static_cast<std::int64_t>(std::floor(1e9 / rate * last_digits)));
}

Time shortest_distance(const System& system, GroupId group, std::int64_t level) {
  const Events& events = system[group].events;
  if (events.aperiodic) return {};
  const Time due = events.burst > 1 ? events.burst_distance : period_of(system, group, level);
  return std::max({Time{}, due - events.jitter, events.min_distance});
}

Time budget_every(const System& system, GroupId group, std::int64_t level) {
  const Time period = period_of(system, group, level) * system[group].events.burst;
  return system[group].budget->every.value_or(period);
}

Time deadline_of(const System& system, GroupId group, std::int64_t level) {
  const Time period = period_of(system, group, level) * system[group].events.burst;
  if (system[group].events.aperiodic && system[group].budget)
    return system[group].deadline.value_or(budget_every(system, group, level));
  return system[group].deadline.value_or(period);
}

const char* to_text(Overload overload) {
  switch (overload) {
    case Overload::skip:
      return "skip";
    case Overload::stretch:
      return "stretch";
    case Overload::lower_rate:
      return "lower_rate";
  }
  return "";
}

const char* to_text(EdgeRead read) { return read == EdgeRead::last ? "last" : "queue"; }

}  // namespace millrace::system
