#include "dataflow/expansion.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "dataflow/checked.h"

namespace millrace::dataflow {
namespace {

/// An actor while the round is executed. Until all are in order, its firings have consecutive
/// numbers.
struct Runner {
  const Actor& actor;
  ActorId id;
  std::uint32_t first, firings;
  std::uint32_t fired = 0, phase = 0;
  std::uint32_t kinds =
      Expansion::none;  // of waits for its own phases; the last: for the round before
  std::uint32_t waits_for = Expansion::none;     // the flow that has too few tokens
  std::vector<std::uint32_t> in = {}, out = {};  // flows
};

/// A channel while the round is executed, and the producer's firing that the consumer's next waits
/// for. Tokens are counted from the first that the round produces.
struct Flow {
  const Channel& channel;
  ChannelId id;
  std::uint32_t from, to;             // runners
  bool overtakes;                     // producers may end in another order than they begin
  std::int64_t available, needed;     // tokens: there, and consumed so far
  std::int64_t rounds, produced = 0;  // of the producer's firing; rounds are never positive
  std::uint32_t firing = 0, phase = 0;
  std::uint32_t kinds = Expansion::none;  // of waits for the phases of these rounds
  bool repeated = false;                  // the consumer waits for this firing already
};

class Expander {
 public:
  Expander(const Graph& graph, const Component& component) {
    std::vector<std::uint32_t> position(graph.actors.size(), 0);
    for (std::size_t at = 0; at < component.actors.size(); ++at) {
      const ActorId id(component.actors[at]);
      const auto firings = static_cast<std::uint32_t>(firings_per_round(graph, component, at));
      position[id.index] = static_cast<std::uint32_t>(at);
      runners_.push_back({graph[id], id, nodes_, firings});
      nodes_ += firings;
    }
    for (std::size_t c : component.channels) {
      const Channel& channel = graph.channels[c];
      add_flow(ChannelId(c), channel, position[channel.from.index], position[channel.to.index]);
    }
    for (Runner& runner : runners_) add_own_kinds(runner);
  }

  Expansion run() {
    reserve();
    execute();
    if (result_.size() < nodes_)
      name_deadlock();
    else
      for (Expansion::Wait& wait : result_.waits) wait.to = place_[wait.to];
    return std::move(result_);
  }

 private:
  void add_flow(ChannelId id, const Channel& channel, std::uint32_t from, std::uint32_t to) {
    const auto flow = static_cast<std::uint32_t>(flows_.size());
    const Runner& producer = runners_[from];
    const auto cycles = static_cast<std::int64_t>(producer.firings / producer.actor.times.size());
    const std::int64_t per_round = checked_multiply(
        std::accumulate(channel.production.begin(), channel.production.end(), std::int64_t{0}),
        cycles, channel.name);
    const std::int64_t begin = 1 - channel.initial_tokens;
    const std::int64_t rounds = begin > 0 ? 0 : -((-begin) / per_round + 1);
    checked_add(per_round, per_round, channel.name);
    flows_.push_back({channel, id, from, to, may_overtake(producer.actor),
                      std::min(channel.initial_tokens, per_round), -channel.initial_tokens, rounds,
                      checked_multiply(rounds, per_round, channel.name) + channel.production[0]});
    add_kinds(flows_.back());
    runners_[from].out.push_back(flow);
    runners_[to].in.push_back(flow);
  }

  std::uint32_t kinds() const { return static_cast<std::uint32_t>(result_.kinds.size()); }

  void add_kinds(Flow& flow) {
    flow.kinds = kinds();
    const Runner& producer = runners_[flow.from];
    for (std::size_t p = 0; p < producer.actor.times.size(); ++p)
      result_.kinds.push_back(
          {{producer.id, p, flow.id}, producer.actor.times[p].count(), -flow.rounds});
  }

  void add_own_kinds(Runner& runner) {
    if (runner.actor.concurrent && runner.firings == 1) return;
    runner.kinds = kinds();
    const auto& times = runner.actor.times;
    for (std::size_t p = 0; p < times.size(); ++p)
      result_.kinds.push_back(
          {{runner.id, p, ChannelId()}, runner.actor.concurrent ? 0 : times[p].count(), 0});
    result_.kinds.push_back(result_.kinds.back());
    result_.kinds.back().tokens = 1;
  }

  void reserve() {
    std::size_t waits = nodes_;
    for (const Flow& flow : flows_)
      waits += std::min(runners_[flow.from].firings + 2, runners_[flow.to].firings);
    result_.waits.reserve(waits);
    result_.first.reserve(std::size_t{nodes_} + 1);
    result_.first.push_back(0);
    place_.resize(nodes_);
  }

  /// Every actor fires as often as it must, and as long as it can.
  void execute() {
    std::vector<std::uint32_t> ready(runners_.size());
    std::iota(ready.rbegin(), ready.rend(), 0);
    while (!ready.empty()) {
      const std::uint32_t next = ready.back();
      ready.pop_back();
      while (can_fire(runners_[next])) fire(runners_[next], ready);
    }
  }

  bool can_fire(Runner& runner) const {
    if (runner.fired == runner.firings) return false;
    for (std::uint32_t flow : runner.in)
      if (flows_[flow].available < flows_[flow].channel.consumption[runner.phase]) {
        runner.waits_for = flow;
        return false;
      }
    return true;
  }

  void fire(Runner& runner, std::vector<std::uint32_t>& ready) {
    place_[runner.first + runner.fired] = result_.size();
    wait_for_own(runner);
    for (std::uint32_t flow : runner.in)
      consume(flows_[flow], flows_[flow].channel.consumption[runner.phase]);
    for (std::uint32_t flow : runner.out) {
      flows_[flow].available += flows_[flow].channel.production[runner.phase];
      Runner& consumer = runners_[flows_[flow].to];
      if (consumer.waits_for != flow ||
          flows_[flow].available < flows_[flow].channel.consumption[consumer.phase])
        continue;
      consumer.waits_for = Expansion::none;
      ready.push_back(flows_[flow].to);
    }
    result_.first.push_back(static_cast<std::uint32_t>(result_.waits.size()));
    ++runner.fired;
    if (++runner.phase == runner.actor.times.size()) runner.phase = 0;
  }

  void wait_for_own(const Runner& runner) {
    if (runner.kinds == Expansion::none) return;
    const auto phases = static_cast<std::uint32_t>(runner.actor.times.size());
    if (runner.fired == 0)
      result_.waits.push_back({runner.first + runner.firings - 1, runner.kinds + phases});
    else
      result_.waits.push_back({runner.first + runner.fired - 1,
                               runner.kinds + (runner.phase == 0 ? phases : runner.phase) - 1});
  }

  /// A firing waits for those that produce its tokens: of several the last, unless they may
  /// overtake each other. What an earlier firing of the consumer waits for is not repeated.
  void consume(Flow& flow, std::int64_t tokens) {
    if (tokens == 0) return;
    const std::int64_t before = flow.needed;
    flow.available -= tokens;
    flow.needed += tokens;
    for (; flow.produced < flow.needed; advance(flow))
      if (flow.overtakes && !flow.repeated && flow.produced > before &&
          flow.channel.production[flow.phase] > 0)
        wait_for(flow);
    if (!flow.repeated) wait_for(flow);
    flow.repeated = true;
  }

  void wait_for(const Flow& flow) {
    result_.waits.push_back({runners_[flow.from].first + flow.firing, flow.kinds + flow.phase});
  }

  void advance(Flow& flow) {
    if (++flow.phase == flow.channel.production.size()) flow.phase = 0;
    if (++flow.firing == runners_[flow.from].firings) {
      flow.firing = 0;
      ++flow.rounds;
      add_kinds(flow);
    }
    flow.produced += flow.channel.production[flow.phase];
    flow.repeated = false;
  }

  /// Whoever cannot go on waits for a firing of an actor that cannot go on either: followed long
  /// enough, this is a cycle.
  void name_deadlock() {
    const auto stuck = std::find_if(runners_.begin(), runners_.end(), [](const Runner& runner) {
      return runner.waits_for != Expansion::none;
    });
    std::vector<std::uint32_t> path, seen(runners_.size(), Expansion::none);
    auto at = static_cast<std::uint32_t>(stuck - runners_.begin());
    for (; seen[at] == Expansion::none; at = flows_[runners_[at].waits_for].from) {
      seen[at] = static_cast<std::uint32_t>(path.size());
      path.push_back(at);
    }
    for (std::size_t i = path.size(); i-- > seen[at];)
      name_from_stuck_to(flows_[runners_[path[i]].waits_for]);
  }

  /// The producer's firings from the one that is stuck to the one that the consumer waits for.
  void name_from_stuck_to(Flow& flow) {
    const Runner& producer = runners_[flow.from];
    consume(flow, flow.channel.consumption[runners_[flow.to].phase]);
    for (std::uint32_t firing = producer.fired; firing <= flow.firing; ++firing)
      result_.deadlock.push_back({producer.id, firing % producer.actor.times.size(), ChannelId()});
    result_.deadlock.back().channel = flow.id;
  }

  std::uint32_t nodes_ = 0;
  std::vector<Runner> runners_;       // by actor of the component
  std::vector<Flow> flows_;           // by channel of the component
  std::vector<std::uint32_t> place_;  // in the order of the result, of firings that have one
  Expansion result_;
};

}  // namespace

Expansion expand(const Graph& graph, const Component& component) {
  return Expander(graph, component).run();
}

}  // namespace millrace::dataflow
