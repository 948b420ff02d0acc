#include <algorithm>

#include "plan/build.h"
#include "plan/steps.h"

namespace millrace::plan {

std::int64_t batch_of(const Plan& plan) {
  std::int64_t largest = 1;
  for (const Stage& stage : plan.stages)
    for (const Phase& phase : stage.phases) largest = std::max(largest, phase.batch);
  return largest;
}

std::int64_t round_of(const Plan& plan) { return replicas_of(plan) * batch_of(plan); }

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
