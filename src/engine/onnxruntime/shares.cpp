#include "engine/onnxruntime/shares.h"

#include <stdlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>

#include "base/error.h"
#include "base/json.h"

namespace millrace::engine::onnxruntime {
namespace {

using network::Network;
constexpr int warm_runs = 1, recorded_runs = 9;

/// A folder that goes with what is in it.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "millrace-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
      throw EngineError(name +
                        ": this folder for a profile cannot be made: " + std::strerror(errno));
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// Nodes that the library makes are named after layers or tensors; so both say which layer it is.
constexpr std::string_view mark = "millrace#";

std::string marked(std::size_t layer) { return std::string(mark) + std::to_string(layer) + "#"; }

Network with_marks(const Network& network, std::span<const LayerId> layers) {
  Network copy = network;
  for (const LayerId layer : layers) {
    copy.layers[layer.index].name = marked(layer.index);
    for (const TensorId output : network[layer].outputs)
      if (output.valid())
        copy.tensors[output.index].name = marked(layer.index) + std::to_string(output.index);
  }
  return copy;
}

std::optional<LayerId> layer_in(const std::string& name) {
  const std::size_t at = name.find(mark);
  if (at == std::string::npos) return std::nullopt;
  return LayerId(std::stoull(name.substr(at + mark.size())));
}

/// The times of a node in all runs; `time` is their median.
struct NodeTime {
  std::string name, kernel;
  std::vector<double> times;
  double time = 0;
};

/// In the order in which they first ran.
std::vector<NodeTime> nodes_of(const std::filesystem::path& profile) {
  const nlohmann::json events = read_json(profile);
  std::vector<NodeTime> nodes;
  std::map<std::string, std::size_t> known;
  constexpr std::string_view ending = "_kernel_time";
  for (const nlohmann::json& event : events) {
    std::string name = event.value("name", "");
    if (event.value("cat", "") != "Node" || !name.ends_with(ending)) continue;
    name.resize(name.size() - ending.size());
    const auto [at, is_new] = known.try_emplace(name, nodes.size());
    if (is_new) nodes.push_back({name, event.at("args").value("op_name", "onnxruntime"), {}});
    nodes[at->second].times.push_back(event.value("dur", 0.0));
  }
  for (NodeTime& node : nodes) {
    const auto middle = node.times.begin() + std::ssize(node.times) / 2;
    std::nth_element(node.times.begin(), middle, node.times.end());
    node.time = *middle;
  }
  return nodes;
}

/// Groups while they are made: by layer, the layer that gives its group the name.
class Grouping {
 public:
  Grouping(const Network& network, std::span<const LayerId> layers)
      : network_(network), layers_(layers), topology_(network::topology(network)) {}

  /// A node without a name of ours, which arranges memory for the next, counts with that one.
  void add(const NodeTime& node) {
    waiting_ += node.time;
    const std::optional<LayerId> layer = layer_in(node.name);
    if (!layer || !is_inside(*layer)) return;
    Named& named = named_[*layer];
    if (!named.kernel.empty()) named.kernel += "+";
    named.kernel += node.kernel;
    named.time += waiting_;
    waiting_ = 0;
    last_ = *layer;
  }

  std::vector<GroupShare> groups() {
    if (named_.empty()) return {};
    named_[last_].time += waiting_;
    std::map<LayerId, GroupShare> by_name;
    double whole = 0;
    for (const auto& [layer, named] : named_) whole += named.time;
    for (const auto& [layer, named] : named_)
      by_name[layer] = {{},
                        named.kernel,
                        whole > 0 ? named.time / whole : 1.0 / static_cast<double>(named_.size())};
    for (const LayerId layer : layers_) by_name[home_of(layer)].layers.push_back(layer);
    std::vector<GroupShare> result;
    for (auto& [layer, group] : by_name) result.push_back(std::move(group));
    std::sort(result.begin(), result.end(), [](const GroupShare& a, const GroupShare& b) {
      return a.layers.front() < b.layers.front();
    });
    return result;
  }

 private:
  struct Named {
    std::string kernel;
    double time = 0;
  };

  bool is_inside(LayerId layer) const {
    return std::binary_search(layers_.begin(), layers_.end(), layer);
  }

  /// The layer that multiplies is named after the last one fused into it, others are fused into
  /// what makes their input.
  LayerId home_of(LayerId layer) const {
    if (named_.contains(layer)) return layer;
    const bool is_heavy = network::cost_of(network_, layer).macs > 0;
    const auto reader = after(layer), maker = before(layer);
    if (is_heavy && reader) return *reader;
    if (maker) return *maker;
    if (reader) return *reader;
    const auto next = named_.lower_bound(layer);
    return next == named_.end() ? std::prev(next)->first : next->first;
  }

  std::optional<LayerId> after(LayerId layer) const {
    while (true) {
      const std::vector<LayerId> readers = readers_of(layer);
      if (readers.size() != 1 || !is_inside(readers.front())) return std::nullopt;
      layer = readers.front();
      if (named_.contains(layer)) return layer;
    }
  }

  std::optional<LayerId> before(LayerId layer) const {
    while (true) {
      const std::vector<LayerId>& makers = topology_.predecessors[layer.index];
      if (makers.empty() || !is_inside(makers.back())) return std::nullopt;
      layer = makers.back();
      if (named_.contains(layer)) return layer;
      // What multiplies was fused into what follows it.
      if (network::cost_of(network_, layer).macs > 0) return home_of(layer);
    }
  }

  std::vector<LayerId> readers_of(LayerId layer) const {
    std::vector<LayerId> readers;
    for (const TensorId output : network_[layer].outputs)
      if (output.valid())
        for (const LayerId reader : topology_.consumers[output.index]) readers.push_back(reader);
    std::sort(readers.begin(), readers.end());
    readers.erase(std::unique(readers.begin(), readers.end()), readers.end());
    return readers;
  }

  const Network& network_;
  std::span<const LayerId> layers_;
  network::Topology topology_;
  std::map<LayerId, Named> named_;
  double waiting_ = 0;
  LayerId last_;
};

}  // namespace

std::vector<GroupShare> measure_shares(const Provider& provider, const SessionPart& part,
                                       const board::Processor& processor, const RunMemory& memory) {
  const TemporaryFolder folder;
  const Network named = with_marks(*part.network, part.part.layers);
  OnnxSession session(provider, {&named, part.part}, {processor, false, folder.path() / "profile"});
  for (int i = 0; i < warm_runs + recorded_runs; ++i) session.run(memory.in, memory.out);
  Grouping grouping(*part.network, part.part.layers);
  for (const NodeTime& node : nodes_of(session.end_profile())) grouping.add(node);
  std::vector<GroupShare> groups = grouping.groups();
  const bool all_have_layers = std::all_of(groups.begin(), groups.end(),
                                           [](const GroupShare& g) { return !g.layers.empty(); });
  if (!groups.empty() && all_have_layers) return groups;
  return {{{part.part.layers.begin(), part.part.layers.end()}, "onnxruntime", 1}};
}

}  // namespace millrace::engine::onnxruntime
