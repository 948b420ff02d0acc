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
      : plan_(plan), network_(network), options_(options) {
    graph_.name = plan.network_name;
    for (std::size_t s = 0; s < plan.stages.size(); ++s) add_stage(s);
    if (options.outside) add_outside();
  }

  dataflow::Graph take() {
    for (const Channel& channel : plan_.channels) connect(channel);
    return std::move(graph_);
  }

 private:
  static bool is_outside(const Endpoint& end) { return end.stage == Endpoint::outside; }

  void add_stage(std::size_t index) {
    const Stage& stage = plan_.stages[index];
    std::vector<Time> times(stage.phases.size(), Time{0});
    if (!options_.phase_times.empty()) {
      if (index >= options_.phase_times.size() ||
          options_.phase_times[index].size() != times.size())
        throw InputError(stage.name, "has other phases than the times given for it");
      times = options_.phase_times[index];
    }
    graph_.add_actor({stage.name, std::move(times)});
  }

  void add_outside() {
    const auto& channels = plan_.channels;
    if (std::any_of(channels.begin(), channels.end(),
                    [](const Channel& channel) { return is_outside(channel.from); }))
      submitting_ = graph_.add_actor({"input", {Time{0}}});
    if (std::any_of(channels.begin(), channels.end(),
                    [](const Channel& channel) { return is_outside(channel.to); }))
      collecting_ = graph_.add_actor({"output", {Time{0}}});
  }

  std::int64_t tokens_of(TensorId tensor) const {
    if (!options_.tokens_are_elements) return 1;
    return std::max<std::int64_t>(
        1, network::element_count(network_[tensor].shape, network_[tensor].name));
  }

  std::int64_t bits_of(TensorId tensor) const { return times(network_[tensor].size().count, 8); }

  std::vector<std::int64_t> rates(dataflow::ActorId actor, std::size_t phase,
                                  std::int64_t tokens) const {
    std::vector<std::int64_t> result(graph_[actor].times.size(), 0);
    result[phase] = tokens;
    return result;
  }

  void connect(const Channel& channel) {
    if (!options_.outside && (is_outside(channel.from) || is_outside(channel.to))) return;
    const auto from =
        is_outside(channel.from) ? submitting_ : dataflow::ActorId(channel.from.stage);
    const auto to = is_outside(channel.to) ? collecting_ : dataflow::ActorId(channel.to.stage);
    const std::int64_t tokens = tokens_of(channel.tensor);
    const auto id = graph_.add_channel({.name = network_[channel.tensor].name,
                                        .from = from,
                                        .to = to,
                                        .production = rates(from, channel.from.phase, tokens),
                                        .consumption = rates(to, channel.to.phase, tokens),
                                        .initial_tokens = times(lag_of(plan_, channel), tokens),
                                        .token_bits = bits_of(channel.tensor) / tokens});
    if (options_.bounded) dataflow::bound_channel(graph_, id, times(channel.capacity, tokens));
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
  dataflow::Graph graph_;
  dataflow::ActorId submitting_, collecting_;
};

}  // namespace

dataflow::Graph csdf_graph(const Plan& plan, const network::Network& network,
                           const GraphOptions& options) {
  return PlanGraph(plan, network, options).take();
}

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
