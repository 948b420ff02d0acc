#include "dataflow/periodic.h"

#include <algorithm>
#include <numeric>

#include "dataflow/checked.h"

namespace millrace::dataflow {
namespace {

std::int64_t floor_divided(std::int64_t value, std::int64_t divisor) {
  return value / divisor - (value % divisor < 0 ? 1 : 0);
}

std::int64_t common_multiple(std::int64_t a, std::int64_t b, const std::string& place) {
  return checked_multiply(a, b / std::gcd(a, b), place);
}

/// Phases of K cycles that produce, or consume, and the tokens that have gone by.
struct Side {
  std::vector<std::uint32_t> phases;        // of K cycles, those with a rate above 0
  std::vector<std::int64_t> before, after;  // tokens up to the phase, without and with it
  std::int64_t total = 0;

  Side(const std::vector<std::int64_t>& rates, std::int64_t periods, const std::string& place) {
    for (std::int64_t cycle = 0; cycle < periods; ++cycle)
      for (std::size_t p = 0; p < rates.size(); ++p) {
        if (rates[p] == 0) continue;
        phases.push_back(
            static_cast<std::uint32_t>(static_cast<std::size_t>(cycle) * rates.size() + p));
        before.push_back(total);
        total = checked_add(total, rates[p], place);
        after.push_back(total);
      }
  }
};

/// A channel with K cycles at each end.
struct Link {
  std::size_t channel;
  Side producer, consumer;
  std::int64_t tokens, step, steps_per_round;
  bool overtakes;

  /// Phase i of the producer and phase j of the consumer, both in some cycle, can meet at a token
  /// only if the tokens that the cycles before have carried differ by certain multiples of the
  /// step. The smallest binds most; this is the step before it.
  std::int64_t steps_below(std::size_t i, std::size_t j) const {
    return floor_divided(tokens + producer.before[i] - consumer.after[j], step);
  }
  bool meet(std::size_t i, std::size_t j) const {
    return (steps_below(i, j) + 1) * step < tokens + producer.after[i] - consumer.before[j];
  }
  /// Whether the consumer's phase before waits for the same.
  bool is_repeated(std::size_t i, std::size_t j) const {
    return j > 0 && steps_below(i, j) == steps_below(i, j - 1) && meet(i, j - 1);
  }
  /// The first of the producer's phases behind i that has another step.
  std::size_t next_run(std::size_t i, std::size_t j) const {
    const std::int64_t end = (steps_below(i, j) + 1) * step + consumer.after[j] - tokens;
    const auto& before = producer.before;
    return static_cast<std::size_t>(
        std::lower_bound(before.begin() + static_cast<std::ptrdiff_t>(i), before.end(), end) -
        before.begin());
  }
};

class Builder {
 public:
  Builder(const Graph& graph, const Component& component, const std::vector<std::int64_t>& periods)
      : graph_(graph), component_(component), periods_(periods), position_(graph.actors.size(), 0) {
    for (std::size_t at = 0; at < component.actors.size(); ++at) {
      position_[component.actors[at]] = at;
      const std::size_t phases = graph.actors[component.actors[at]].times.size();
      result_.first.push_back(result_.nodes);
      result_.nodes += static_cast<std::uint32_t>(static_cast<std::size_t>(periods[at]) * phases);
    }
    choose_grid();
  }

  PeriodicWaits run() {
    for (std::size_t at = 0; at < component_.actors.size(); ++at) order_phases(at);
    for (std::size_t c : component_.channels) connect(c);
    return std::move(result_);
  }

 private:
  /// How often the K cycles of an actor fit into a round.
  std::int64_t repeats(std::size_t at) const { return component_.cycles[at] / periods_[at]; }

  /// Fine enough for all waits if that is possible with small numbers.
  void choose_grid() {
    constexpr std::int64_t finest = std::int64_t{1} << 31;
    for (std::size_t at = 0; at < periods_.size(); ++at) {
      const std::int64_t factor = repeats(at) / std::gcd(result_.grid, repeats(at));
      if (factor <= finest / result_.grid) result_.grid *= factor;
    }
  }

  /// steps / per_round rounds, in units of the grid.
  std::int64_t on_grid(std::int64_t steps, std::int64_t per_round) const {
    const __int128 scaled = static_cast<__int128>(steps) * result_.grid;
    const __int128 down = scaled / per_round - (scaled % per_round < 0 ? 1 : 0);
    return static_cast<std::int64_t>(down);
  }

  void order_phases(std::size_t at) {
    const Actor& actor = graph_.actors[component_.actors[at]];
    const auto phases = static_cast<std::uint32_t>(actor.times.size());
    const std::uint32_t first = result_.first[at];
    const auto count = static_cast<std::uint32_t>(periods_[at]) * phases;
    if (actor.concurrent && count == 1) return;
    const auto time_of = [&](std::uint32_t phase) {
      return actor.concurrent ? 0 : actor.times[phase % phases].count();
    };
    result_.waits.push_back(
        {first, first + count - 1, own_order, time_of(count - 1), on_grid(1, repeats(at))});
    for (std::uint32_t k = 1; k < count; ++k)
      result_.waits.push_back({first + k, first + k - 1, own_order, time_of(k - 1), 0});
  }

  void connect(std::size_t c) {
    const Channel& channel = graph_.channels[c];
    const std::size_t from = position_[channel.from.index], to = position_[channel.to.index];
    Link link{c,
              Side(channel.production, periods_[from], channel.name),
              Side(channel.consumption, periods_[to], channel.name),
              channel.initial_tokens,
              1,
              common_multiple(repeats(from), repeats(to), channel.name),
              may_overtake(graph_[channel.from])};
    link.step = std::gcd(link.producer.total, link.consumer.total);
    checked_add(channel.initial_tokens,
                checked_add(link.producer.total, link.consumer.total, channel.name), channel.name);
    for (std::size_t j = 0; j < link.consumer.phases.size(); ++j) add_waits(link, j);
  }

  /// Producer phases with the same step form a run; its last one binds, unless firings overtake.
  void add_waits(const Link& link, std::size_t j) {
    for (std::size_t i = 0; i < link.producer.phases.size();) {
      const std::size_t next = link.next_run(i, j);
      for (std::size_t last = next; last-- > i;) {
        if (!link.meet(last, j)) break;
        if (!link.is_repeated(last, j)) add_wait(link, last, j);
        if (!link.overtakes) break;
      }
      i = next;
    }
  }

  void add_wait(const Link& link, std::size_t i, std::size_t j) {
    const Channel& channel = graph_.channels[link.channel];
    const std::uint32_t producing = link.producer.phases[i];
    const Actor& actor = graph_[channel.from];
    result_.waits.push_back({result_.first[position_[channel.to.index]] + link.consumer.phases[j],
                             result_.first[position_[channel.from.index]] + producing,
                             static_cast<std::uint32_t>(link.channel),
                             actor.times[producing % actor.times.size()].count(),
                             on_grid(link.steps_below(i, j) + 1, link.steps_per_round)});
  }

  const Graph& graph_;
  const Component& component_;
  const std::vector<std::int64_t>& periods_;
  std::vector<std::size_t> position_;  // by actor
  PeriodicWaits result_;
};

std::size_t actor_of(const PeriodicWaits& waits, std::uint32_t node) {
  return static_cast<std::size_t>(std::upper_bound(waits.first.begin(), waits.first.end(), node) -
                                  waits.first.begin() - 1);
}

}  // namespace

PeriodicWaits periodic_waits(const Graph& graph, const Component& component,
                             const std::vector<std::int64_t>& periods) {
  return Builder(graph, component, periods).run();
}

std::vector<std::int64_t> periods_for(const Component& component, const PeriodicWaits& waits,
                                      const std::vector<std::uint32_t>& cycle,
                                      const std::vector<std::int64_t>& periods) {
  std::int64_t common = 0;
  bool rounded = false;
  for (std::uint32_t w : cycle) {
    const std::size_t at = actor_of(waits, waits.waits[w].from);
    common = std::gcd(common, component.cycles[at]);
    rounded |= waits.grid % (component.cycles[at] / periods[at]) != 0;
  }
  std::vector<std::int64_t> result = periods;
  for (std::uint32_t w : cycle) {
    const std::size_t at = actor_of(waits, waits.waits[w].from);
    result[at] = std::lcm(periods[at], component.cycles[at] / common);
  }
  if (!rounded || result != periods) return result;
  for (std::uint32_t w : cycle) {
    const std::size_t at = actor_of(waits, waits.waits[w].from);
    result[at] = component.cycles[at];
  }
  return result;
}

}  // namespace millrace::dataflow
