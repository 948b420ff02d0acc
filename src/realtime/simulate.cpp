#include "realtime/simulate.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/random.h"
#include "realtime/run.h"
#include "realtime/utilisation.h"

namespace millrace::realtime {
namespace {

using Lateness = Scenario::Lateness;
using Execution = Scenario::Execution;

constexpr std::int64_t most_events_of_a_flow = 2000;

/// See Run::work: some seconds.
constexpr std::int64_t most_work = 500'000'000;

/// Four of the longest periods, but few events of each flow.
Time span_of(const TaskSystem& system) {
  Time longest{}, most = Time::max();
  for (const Flow& flow : system.flows) {
    longest = std::max(longest, flow.events.period + flow.events.jitter);
    most = std::min(most, flow.events.period * most_events_of_a_flow / flow.events.burst);
  }
  return std::min(4 * longest, most);
}

/// Every critical event comes at the same time, or `later` by flow.
void align(const TaskSystem& system, const std::vector<Time>& later, Scenario& scenario) {
  Time at{};
  std::vector<Time> critical(system.flows.size());
  for (std::size_t f = 0; f < system.flows.size(); ++f) {
    const EventModel& events = system.flows[f].events;
    critical[f] = events.due_distance(scenario.flows[f].critical_event + 1) + events.jitter;
    at = std::max(at, critical[f]);
  }
  for (std::size_t f = 0; f < system.flows.size(); ++f)
    scenario.flows[f].phase = at - critical[f] + later[f];
}

class Search {
 public:
  Search(const TaskSystem& system, const SimulationOptions& options)
      : system_(system),
        structure_(structure_of(system)),
        options_(options),
        random_(options.seed),
        first_(critical_scenario(system, options.seed)) {
    best_.largest.tasks.resize(system.tasks.size());
    best_.largest.flows.resize(system.flows.size());
    best_.largest.completions.resize(system.flows.size());
    best_.worst.assign(system.flows.size(), first_);
  }

  SimulatedResponses run() {
    if (system_.flows.empty()) return std::move(best_);
    try_out(first_);
    for (int n = 1; n < options_.runs && work_ < most_work; ++n)
      try_out(n % 3 == 1 ? anything() : near(best_.worst[flow_number(n)]));
    return std::move(best_);
  }

 private:
  std::size_t flow_number(int n) const {
    return static_cast<std::size_t>(n) % system_.flows.size();
  }

  void try_out(const Scenario& scenario) {
    Run run(system_, structure_, scenario, nullptr);
    const ScenarioResult result = run.result(most_work - work_);
    work_ += run.work();
    ++best_.runs;
    for (std::size_t t = 0; t < result.tasks.size(); ++t)
      best_.largest.tasks[t] = std::max(best_.largest.tasks[t], result.tasks[t]);
    for (std::size_t f = 0; f < result.flows.size(); ++f) {
      best_.largest.completions[f] = std::max(best_.largest.completions[f], result.completions[f]);
      if (result.flows[f] < best_.largest.flows[f]) continue;
      best_.largest.flows[f] = result.flows[f];
      best_.worst[f] = scenario;
    }
  }

  template <class Value, std::size_t count>
  Value one_of(const std::array<Value, count>& values) {
    return values[random_.below(count)];
  }
  Time below(Time bound) {
    return Time(static_cast<std::int64_t>(
        random_.below(static_cast<std::uint64_t>(std::max(Time{1}, bound).count()))));
  }

  void choose_lateness(Scenario::FlowChoice& flow) {
    constexpr std::array all{Lateness::first_late, Lateness::first_late, Lateness::any,
                             Lateness::all, Lateness::none};
    flow.lateness = one_of(all);
    flow.critical_event = static_cast<std::int64_t>(random_.below(3));
  }
  void choose_execution(Execution& execution) {
    constexpr std::array all{Execution::worst, Execution::worst, Execution::first_worst,
                             Execution::any, Execution::best};
    execution = one_of(all);
  }

  Scenario anything() {
    Scenario scenario = first_;
    scenario.seed = random_();
    std::vector<Time> later(system_.flows.size());
    const bool together = random_.below(3) == 0;
    for (std::size_t f = 0; f < later.size(); ++f) {
      choose_lateness(scenario.flows[f]);
      if (!together) later[f] = below(system_.flows[f].events.period);
    }
    align(system_, later, scenario);
    if (random_.below(2) == 0)
      for (Execution& execution : scenario.executions) choose_execution(execution);
    choose_table_phases(scenario);
    return scenario;
  }

  void choose_table_phases(Scenario& scenario) {
    for (std::size_t r = 0; r < system_.resources.size(); ++r) {
      Time cycle{};
      for (const Slot& slot : system_.resources[r].table) cycle += slot.length;
      scenario.table_phases[r] = below(cycle);
    }
  }

  Scenario near(Scenario scenario) {
    const std::size_t f = random_.below(system_.flows.size());
    const Time period = system_.flows[f].events.period;
    Scenario::FlowChoice& flow = scenario.flows[f];
    switch (random_.below(4)) {
      case 0:
        flow.phase = below(2 * period);
        break;
      case 1: {
        const Time step = below(period / 8 + Time{2});
        flow.phase =
            std::max(Time{}, random_.below(2) == 0 ? flow.phase + step : flow.phase - step);
        break;
      }
      case 2:
        choose_lateness(flow);
        break;
      default:
        choose_execution(scenario.executions[random_.below(system_.tasks.size())]);
        if (random_.below(2) == 0) choose_table_phases(scenario);
    }
    if (random_.below(4) == 0) scenario.seed = random_();
    return scenario;
  }

  const TaskSystem& system_;
  const Structure structure_;
  const SimulationOptions options_;
  Random random_;
  const Scenario first_;
  std::int64_t work_ = 0;
  SimulatedResponses best_;
};

}  // namespace

Scenario critical_scenario(const TaskSystem& system, std::uint64_t seed) {
  Scenario scenario;
  scenario.flows.resize(system.flows.size());
  scenario.executions.assign(system.tasks.size(), Execution::worst);
  scenario.table_phases.resize(system.resources.size());
  scenario.seed = seed;
  scenario.span = span_of(system);
  align(system, std::vector<Time>(system.flows.size()), scenario);
  return scenario;
}

ScenarioResult run_scenario(const TaskSystem& system, const Scenario& scenario, Trace* trace) {
  check(system);
  check_not_overloaded(system);
  if (trace != nullptr) {
    const Structure structure = structure_of(system);
    for (const Flow& flow : system.flows) trace->plans.push_back(flow.name);
    for (std::size_t t = 0; t < system.tasks.size(); ++t)
      trace->stages.push_back({structure.flow_of[t].index, system.tasks[t].name,
                               system[system.tasks[t].resource].name});
  }
  const Structure structure = structure_of(system);
  return Run(system, structure, scenario, trace).result(most_work);
}

SimulatedResponses simulate(const TaskSystem& system, const SimulationOptions& options) {
  check(system);
  check_not_overloaded(system);
  return Search(system, options).run();
}

}  // namespace millrace::realtime
