#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "plan/build.h"
#include "plan/steps.h"

namespace millrace::plan {
namespace {

/// Builds the plan's graph; the caller's two actors come behind the stages' when something needs
/// them.
class PlanGraph {
 public:
  PlanGraph(const Plan& plan, const network::Network& network, const GraphOptions& options)
      : plan_(plan),
        network_(network),
        options_(options),
        batch_(batch_of(plan)),
        turns_(turns_of(plan)) {
    graph_.name = plan.network_name;
    for (std::size_t s = 0; s < plan.stages.size(); ++s) add_stage(s);
    if (options.outside) add_outside();
  }

  dataflow::Graph take() {
    for (const Channel& channel : plan_.channels) connect(channel);
    return std::move(graph_);
  }

 private:
  void add_stage(std::size_t index) {
    const Stage& stage = plan_.stages[index];
    std::vector<Time> times(stage.phases.size(), Time{0});
    if (!options_.phase_times.empty()) {
      if (index >= options_.phase_times.size() ||
          options_.phase_times[index].size() != times.size())
        throw InputError(stage.name, "has other phases than the times given for it");
      times = options_.phase_times[index];
    }
    graph_.add_actor({stage.name, over_round(stage, times)});
  }

  /// What each phase has, cycle by cycle: nothing in the cycles in which it does nothing.
  template <class T>
  std::vector<T> over_round(const Stage& stage, const std::vector<T>& by_phase) const {
    std::vector<T> result;
    const std::int64_t cycles = stage.turn.of > 1 ? batch_ : batch_ * turns_;
    for (std::int64_t cycle = 0; cycle < cycles; ++cycle)
      for (std::size_t p = 0; p < by_phase.size(); ++p)
        result.push_back((cycle + 1) % stage.phases[p].batch == 0 ? by_phase[p] : T{0});
    return result;
  }

  void add_outside() {
    const auto& channels = plan_.channels;
    if (std::any_of(channels.begin(), channels.end(),
                    [](const Channel& channel) { return channel.from.is_outside(); }))
      submitting_ = graph_.add_actor({"input", no_times()});
    if (std::any_of(channels.begin(), channels.end(),
                    [](const Channel& channel) { return channel.to.is_outside(); }))
      collecting_ = graph_.add_actor({"output", no_times()});
  }

  std::vector<Time> no_times() const { return std::vector<Time>(static_cast<std::size_t>(turns_)); }

  std::int64_t tokens_of(TensorId tensor) const {
    if (!options_.tokens_are_elements) return 1;
    return std::max<std::int64_t>(
        1, network::element_count(network_[tensor].shape, network_[tensor].name));
  }

  std::int64_t bits_of(TensorId tensor) const { return times(network_[tensor].size().count, 8); }

  /// One end of a channel that carries the frames of a turn, and works on each of them `lag` cycles
  /// late.
  struct Side {
    Endpoint end;
    std::int64_t lag;
    Turn turn;
  };

  std::vector<std::int64_t> rates(const Side& side, std::int64_t tokens) const {
    if (side.end.is_outside()) return in_turn(side, {tokens});
    const Stage& stage = plan_.stages[side.end.stage];
    std::vector<std::int64_t> by_phase(stage.phases.size(), 0);
    by_phase[side.end.phase] = times(stage.phases[side.end.phase].batch, tokens);
    if (stage.turn.of > 1 || turns_ == 1) return over_round(stage, by_phase);
    return in_turn(side, by_phase);
  }

  /// Of what is no replica itself: nothing in the cycles of frames that are not of the turn.
  std::vector<std::int64_t> in_turn(const Side& side, const std::vector<std::int64_t>& each) const {
    std::vector<std::int64_t> result;
    for (std::int64_t cycle = 0; cycle < turns_; ++cycle) {
      const std::int64_t frame = (cycle + turns_ - side.lag % turns_) % turns_;
      for (const std::int64_t tokens : each) result.push_back(side.turn.is_of(frame) ? tokens : 0);
    }
    return result;
  }

  void connect(const Channel& channel) {
    if (!options_.outside && (channel.from.is_outside() || channel.to.is_outside())) return;
    const auto from =
        channel.from.is_outside() ? submitting_ : dataflow::ActorId(channel.from.stage);
    const auto to = channel.to.is_outside() ? collecting_ : dataflow::ActorId(channel.to.stage);
    const std::int64_t tokens = tokens_of(channel.tensor);
    const Turn turn = turn_of(plan_, channel);
    const std::int64_t before = channel.from.is_outside() ? 0 : phase_at(channel.from).lag;
    const std::int64_t behind = before + lag_of(plan_, channel);
    const auto id =
        graph_.add_channel({.name = network_[channel.tensor].name,
                            .from = from,
                            .to = to,
                            .production = rates({channel.from, before, turn}, tokens),
                            .consumption = rates({channel.to, behind, turn}, tokens),
                            .initial_tokens = times(initial_tokens(plan_, channel), tokens),
                            .token_bits = bits_of(channel.tensor) / tokens});
    if (options_.bounded)
      dataflow::bound_channel(graph_, id, times(channel.capacity / turn.of, tokens));
  }

  const Phase& phase_at(const Endpoint& end) const {
    return plan_.stages[end.stage].phases[end.phase];
  }

  std::int64_t times(std::int64_t frames, std::int64_t tokens) const {
    std::int64_t product = 0;
    if (__builtin_mul_overflow(frames, tokens, &product))
      throw InputError(graph_.name, fmt::format("{} frames of {} tokens are too many for a channel",
                                                frames, tokens));
    return product;
  }

  const Plan& plan_;
  const network::Network& network_;
  const GraphOptions& options_;
  const std::int64_t batch_, turns_;
  dataflow::Graph graph_;
  dataflow::ActorId submitting_, collecting_;
};

}  // namespace

dataflow::Graph csdf_graph(const Plan& plan, const network::Network& network,
                           const GraphOptions& options) {
  return PlanGraph(plan, network, options).take();
}

std::int64_t batch_of(const Plan& plan) {
  std::int64_t largest = 1;
  for (const Stage& stage : plan.stages)
    for (const Phase& phase : stage.phases) largest = std::max(largest, phase.batch);
  return largest;
}

std::int64_t round_of(const Plan& plan) { return turns_of(plan) * batch_of(plan); }

dataflow::Graph sdf_graph(const network::Network& network) {
  dataflow::Graph graph;
  graph.name = network.name;
  for (const network::Layer& layer : network.layers) graph.add_actor({layer.name, {Time{0}}});
  const network::Topology topology = network::topology(network);
  for (std::size_t i = 0; i < network.layers.size(); ++i)
    for (TensorId tensor : network::data_inputs(network, LayerId(i))) {
      const auto producer = topology.producer[tensor.index];
      if (!producer) continue;
      const auto elements = network::element_count(network[tensor].shape, network[tensor].name);
      graph.add_channel({.name = network[tensor].name,
                         .from = dataflow::ActorId(producer->index),
                         .to = dataflow::ActorId(i),
                         .production = {elements},
                         .consumption = {elements}});
    }
  return graph;
}

}  // namespace millrace::plan
