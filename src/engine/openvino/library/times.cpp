#include "engine/openvino/library/times.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <sstream>

#include "engine/openvino/library/model.h"

namespace millrace::engine::openvino {
namespace {

std::string text_of(const ov::Node& node, const char* key) {
  const auto& info = node.get_rt_info();
  const auto found = info.find(key);
  return found == info.end() ? std::string() : found->second.as<std::string>();
}

bool runs(const ov::Node& node) {
  const std::string type = text_of(node, "layerType");
  return type != "Const" && type != "Input" && type != "Output" && type != "Parameter" &&
         type != "Result";
}

/// Layers as sets that only grow together.
class LayerSets {
 public:
  explicit LayerSets(std::size_t count) : parents_(count) {
    std::iota(parents_.begin(), parents_.end(), std::size_t{0});
  }
  std::size_t first_of(std::size_t layer) const {
    while (parents_[layer] != layer) layer = parents_[layer];
    return layer;
  }
  void join(std::size_t a, std::size_t b) {
    const auto [low, high] = std::minmax({first_of(a), first_of(b)});
    parents_[high] = low;
  }

 private:
  std::vector<std::size_t> parents_;
};

/// The layers that the operations were named after: see name_after_layers.
std::vector<std::size_t> layers_of(const ov::Node& node) {
  std::vector<std::size_t> layers;
  std::istringstream names(text_of(node, "originalLayersNames"));
  for (std::string name; std::getline(names, name, ',');)
    if (const auto layer = layer_of(name)) layers.push_back(*layer);
  return layers;
}

/// For each node a layer that it belongs to, by what reads it, else by what it reads.
using Owners = std::map<const ov::Node*, std::size_t>;
Owners owners_of(const ov::NodeVector& ordered) {
  Owners owners;
  const auto take = [&](const ov::Node* node, const ov::Node* neighbour) {
    const auto found = owners.find(neighbour);
    if (found != owners.end()) owners.try_emplace(node, found->second);
  };
  for (const auto& node : ordered)
    if (const auto layers = layers_of(*node); runs(*node) && !layers.empty())
      owners.emplace(node.get(), layers.front());
  for (auto node = ordered.rbegin(); node != ordered.rend(); ++node)
    for (const auto& output : (*node)->outputs())
      for (const auto& reader : output.get_target_inputs()) take(node->get(), reader.get_node());
  for (const auto& node : ordered)
    for (const auto& input : node->inputs()) take(node.get(), input.get_source_output().get_node());
  return owners;
}

LayerSets sets_of(const ov::NodeVector& ordered, std::size_t layer_count) {
  LayerSets sets(layer_count);
  for (const auto& node : ordered) {
    const auto layers = layers_of(*node);
    for (const std::size_t layer : layers) sets.join(layers.front(), layer);
  }
  return sets;
}

Bytes size_of(const ov::Output<const ov::Node>& output) {
  if (output.get_partial_shape().is_dynamic()) return {};
  const auto bits = ov::shape_size(output.get_shape()) * output.get_element_type().bitwidth();
  return {static_cast<std::int64_t>(bits / 8)};
}

/// Counters tell whole microseconds, so a median would round short times to nothing.
double mean_of_shorter_half(std::vector<double> times) {
  std::ranges::sort(times);
  times.resize((times.size() + 1) / 2);
  return std::accumulate(times.begin(), times.end(), 0.) / static_cast<double>(times.size());
}

}  // namespace

void add_times(ov::InferRequest& request, NodeTimes& times) {
  for (const ov::ProfilingInfo& info : request.get_profiling_info())
    if (info.status == ov::ProfilingInfo::Status::EXECUTED)
      times[info.node_name].push_back(static_cast<double>(info.real_time.count()));
}

std::vector<KernelGroup> groups_of(const ov::CompiledModel& compiled, std::size_t layer_count,
                                   const NodeTimes& times) {
  const ov::NodeVector ordered = compiled.get_runtime_model()->get_ordered_ops();
  const LayerSets sets = sets_of(ordered, layer_count);
  const Owners owners = owners_of(ordered);
  std::vector<KernelGroup> by_first(layer_count);
  std::vector<double> longest(layer_count, -1);
  for (std::size_t layer = 0; layer < layer_count; ++layer)
    by_first[sets.first_of(layer)].layers.push_back(layer);
  for (const auto& node : ordered) {
    const auto owner = owners.find(node.get());
    if (owner == owners.end() || !runs(*node)) continue;
    const std::size_t first = sets.first_of(owner->second);
    const auto known = times.find(node->get_friendly_name());
    const double time = known == times.end() ? 0 : mean_of_shorter_half(known->second);
    by_first[first].time += time;
    if (time <= longest[first]) continue;
    longest[first] = time;
    by_first[first].kernel = "openvino:" + text_of(*node, "primitiveType");
  }
  std::erase_if(by_first, [](const KernelGroup& group) { return group.layers.empty(); });
  return by_first;
}

Traffic traffic_of(const ov::CompiledModel& compiled) {
  Traffic traffic;
  for (const auto& node : compiled.get_runtime_model()->get_ordered_ops()) {
    if (!runs(*node)) continue;
    for (const auto& input : node->inputs()) {
      const auto source = input.get_source_output();
      if (text_of(*source.get_node(), "layerType") != "Const")
        traffic.moved += size_of({source.get_node(), source.get_index()});
    }
    for (std::size_t i = 0; i < node->get_output_size(); ++i) {
      const Bytes size = size_of({node.get(), i});
      traffic.moved += size;
      traffic.written += size;
    }
  }
  return traffic;
}

}  // namespace millrace::engine::openvino
