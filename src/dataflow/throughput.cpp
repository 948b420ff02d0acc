#include <algorithm>
#include <limits>
#include <numeric>

#include "dataflow/analysis.h"
#include "dataflow/checked.h"
#include "dataflow/component.h"
#include "dataflow/expansion.h"
#include "dataflow/periodic.h"
#include "dataflow/recurrence.h"
#include "dataflow/sweeps.h"

namespace millrace::dataflow {
namespace {

/// What one component allows.
struct Pace {
  bool dead = false;
  Fraction period;  // time of one round; 0: unlimited
  std::vector<CycleStep> cycle;
  bool expanded = false;  // from the graph's own times
};

/// A cycle that goes through the same steps several times is given once.
std::vector<CycleStep> without_repeats(std::vector<CycleStep> steps) {
  // The longest end of each beginning that is also its beginning (Knuth, Morris, Pratt 1977).
  std::vector<std::size_t> same(steps.size() + 1, 0);
  for (std::size_t i = 1; i < steps.size(); ++i) {
    std::size_t length = same[i];
    while (length > 0 && steps[i] != steps[length]) length = same[length];
    same[i + 1] = steps[i] == steps[length] ? length + 1 : 0;
  }
  const std::size_t once = steps.size() - same[steps.size()];
  if (once > 0 && steps.size() % once == 0) steps.resize(once);
  steps.shrink_to_fit();
  return steps;
}

bool has_instant_phases(const Graph& graph, const Component& component) {
  return std::any_of(component.actors.begin(), component.actors.end(), [&](std::size_t actor) {
    const auto& times = graph.actors[actor].times;
    return std::any_of(times.begin(), times.end(), [](Time time) { return time == Time{0}; });
  });
}

/// The nodes of a graph of waits, and the actors and phases that they stand for.
struct Nodes {
  const Graph& graph;
  const Component& component;
  const std::vector<std::uint32_t>& first;  // per actor of the component

  CycleStep step_at(std::uint32_t node) const {
    const auto at = std::upper_bound(first.begin(), first.end(), node) - first.begin() - 1;
    const std::size_t actor = component.actors[static_cast<std::size_t>(at)];
    const std::uint32_t firing = node - first[static_cast<std::size_t>(at)];
    return {ActorId(actor), firing % graph.actors[actor].times.size(), ChannelId()};
  }

  /// From each firing to the one that waits for it.
  std::vector<CycleStep> steps_of(const std::vector<Wait>& waits,
                                  const std::vector<std::uint32_t>& cycle) const {
    std::vector<CycleStep> steps;
    for (auto w = cycle.rbegin(); w != cycle.rend(); ++w) {
      steps.push_back(step_at(waits[*w].to));
      if (waits[*w].channel != own_order) steps.back().channel = ChannelId(waits[*w].channel);
    }
    return without_repeats(std::move(steps));
  }
};

class Analysis {
 public:
  Analysis(const Graph& graph, const ThroughputOptions& options)
      : graph_(graph), options_(options) {}

  std::optional<Pace> pace_of(const Component& component) const {
    if (component.actors.size() == 1 && component.channels.empty()) return alone(component);
    switch (options_.method) {
      case Method::self_timed:
        return by_execution(component);
      case Method::cycle_ratio:
        return by_expansion(component);
      case Method::k_periodic:
        return by_periods(component, false);
      case Method::fastest:
        return by_periods(component, true);
    }
    return std::nullopt;
  }

 private:
  Pace alone(const Component& component) const {
    const ActorId actor(component.actors.front());
    if (graph_[actor].concurrent) return {};
    std::int64_t time = 0;
    for (Time each : graph_[actor].times)
      time = checked_add(time, each.count(), "actor '" + graph_[actor].name + "'");
    return {false, Fraction(time), {{actor, 0, ChannelId()}}};
  }

  std::optional<Pace> by_execution(const Component& component) const {
    const auto regime = periodic_regime(graph_, component, options_.max_firings);
    if (!regime) return std::nullopt;
    return Pace{regime->dead, regime->period, {}};
  }

  /// 0 if more than the options allow.
  std::int64_t size_of_expansion(const Component& component) const {
    std::int64_t size = 0;
    for (std::size_t at = 0; at < component.actors.size(); ++at) {
      size = checked_add(size, firings_per_round(graph_, component, at), graph_.name);
      if (size > options_.max_nodes) return 0;
    }
    return size;
  }

  std::optional<Pace> by_expansion(const Component& component) const {
    if (size_of_expansion(component) == 0) return std::nullopt;
    Expansion expansion = expand(graph_, component);
    if (!expansion.deadlock.empty())
      return Pace{true, {}, without_repeats(std::move(expansion.deadlock)), true};
    const ExpandedCycle slowest = slowest_cycle(expansion);
    std::vector<CycleStep> steps;
    steps.reserve(slowest.kinds.size());
    for (auto kind = slowest.kinds.rbegin(); kind != slowest.kinds.rend(); ++kind)
      steps.push_back(expansion.kinds[*kind].step);
    return Pace{false, slowest.ratio, without_repeats(std::move(steps)), true};
  }

  std::optional<Pace> by_periods(const Component& component, bool may_expand) const {
    std::vector<std::int64_t> periods(component.actors.size(), 1);
    if (has_instant_phases(graph_, component)) {
      const auto pace = raise_periods(unhurried(component), component, periods, may_expand);
      if (!pace || pace->dead || pace->expanded) return pace;
    }
    return raise_periods(graph_, component, periods, may_expand);
  }

  /// A cycle without tokens and without time contradicts no schedule; that it is dead shows when
  /// everything takes some time.
  Graph unhurried(const Component& component) const {
    Graph graph = graph_;
    for (std::size_t actor : component.actors)
      for (Time& time : graph.actors[actor].times) time = std::max(time, Time{1});
    return graph;
  }

  std::optional<Pace> raise_periods(const Graph& graph, const Component& component,
                                    std::vector<std::int64_t>& periods, bool may_expand) const {
    const std::int64_t expanded = may_expand ? size_of_expansion(component) : 0;
    std::int64_t looks = expanded > 0 ? std::max(small, expanded) * looks_per_firing
                                      : std::numeric_limits<std::int64_t>::max();
    for (std::int64_t sizes = 0;;) {
      const std::int64_t size = size_with(component, periods);
      sizes = checked_add(sizes, size, graph.name);
      if (expanded > 0 && sizes > std::max(small, expanded / 16)) return by_expansion(component);
      if (size > options_.max_nodes) return std::nullopt;
      const PeriodicWaits waits = periodic_waits(graph, component, periods);
      const auto found = largest_cycle_ratio(waits.nodes, waits.waits, looks);
      if (!found) return by_expansion(component);
      const auto raised = periods_for(component, waits, found->cycle, periods);
      if (raised == periods) {
        const Nodes nodes{graph, component, waits.first};
        return Pace{found->impossible, found->ratio * Fraction(waits.grid),
                    nodes.steps_of(waits.waits, found->cycle)};
      }
      periods = raised;
    }
  }

  std::int64_t size_with(const Component& component,
                         const std::vector<std::int64_t>& periods) const {
    std::int64_t size = 0;
    for (std::size_t at = 0; at < periods.size(); ++at) {
      const auto phases =
          static_cast<std::int64_t>(graph_.actors[component.actors[at]].times.size());
      size = checked_add(size, checked_multiply(periods[at], phases, graph_.name), graph_.name);
    }
    return size;
  }

  static constexpr std::int64_t small = 10'000;        // nodes whose cycle ratio is found at once
  static constexpr std::int64_t looks_per_firing = 2;  // then the expansion is as good

  const Graph& graph_;
  const ThroughputOptions& options_;
};

}  // namespace

double Throughput::per_second() const {
  if (iterations == 0) return 0;
  if (span == Time{0}) return std::numeric_limits<double>::infinity();
  return static_cast<double>(iterations) / seconds(span);
}

std::optional<Throughput> throughput(const Graph& graph, const ThroughputOptions& options) {
  const Analysis analysis(graph, options);
  Fraction slowest;
  Throughput result{Time{0}, 1, {}};
  for (const Component& component : components(graph, repetition_vector(graph))) {
    std::optional<Pace> pace = analysis.pace_of(component);
    if (!pace) return std::nullopt;
    if (pace->dead) return Throughput{Time{0}, 0, std::move(pace->cycle)};
    const Fraction period = pace->period * Fraction(component.rounds);
    if (period <= slowest) continue;
    slowest = period;
    result = {Time{period.over()}, period.under(), std::move(pace->cycle)};
  }
  return result;
}

}  // namespace millrace::dataflow
