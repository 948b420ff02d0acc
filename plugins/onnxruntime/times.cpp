#include "times.h"

#include <stdlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>

#include "failure.h"
#include "profile.h"

namespace millrace_onnxruntime {
namespace {

constexpr int warm_runs = 1, recorded_runs = 9;

/// A folder that goes with what is in it.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "millrace-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
      throw LibraryFailure(name + ": this folder for a profile cannot be made: " + std::strerror(errno));
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

/// "#3#conv1", anywhere in the name of a node that the library made: 3.
std::optional<std::size_t> layer_in(std::string_view name) {
  for (std::size_t at = name.find('#'); at != std::string_view::npos; at = name.find('#', at + 1)) {
    const std::size_t end = std::min(name.find_first_not_of("0123456789", at + 1), name.size());
    if (end > at + 1 && end < name.size() && name[end] == '#')
      return std::stoull(std::string(name.substr(at + 1, end - at - 1)));
  }
  return std::nullopt;
}

bool multiplies(std::string_view op) {
  constexpr std::array<std::string_view, 12> operators{
      "Conv", "ConvTranspose", "ConvInteger",  "QLinearConv", "MatMul", "MatMulInteger",
      "Gemm", "QLinearMatMul", "DeformConv", "LSTM",        "GRU",    "RNN"};
  return std::find(operators.begin(), operators.end(), op) != operators.end();
}

/// Who reads what, among the layers of a subnet.
struct LayerGraph {
  std::vector<std::set<std::size_t>> before, after;
  std::vector<bool> is_heavy;
  std::map<std::string, std::size_t, std::less<>> tensors;  // by name: the layer that makes it

  explicit LayerGraph(const MillraceSubnet& subnet)
      : before(subnet.layer_count), after(subnet.layer_count), is_heavy(subnet.layer_count) {
    std::map<std::int32_t, std::size_t> makers;
    for (std::size_t i = 0; i < subnet.node_count; ++i) {
      const MillraceNode& node = subnet.nodes[i];
      if (multiplies(node.op)) is_heavy[node.layer] = true;
      for (std::size_t j = 0; j < node.input_count; ++j) join(makers, node.inputs[j], node.layer);
      for (std::size_t j = 0; j < node.output_count; ++j) {
        if (node.outputs[j] < 0) continue;
        makers[node.outputs[j]] = node.layer;
        tensors[subnet.tensors[node.outputs[j]].name] = node.layer;
      }
    }
  }

  /// Nodes in another layout are called after what they make: "relu1_nchwc".
  std::optional<std::size_t> maker_of(std::string_view name) const {
    while (!name.empty()) {
      if (const auto at = tensors.find(name); at != tensors.end()) return at->second;
      const std::size_t end = name.rfind('_');
      name = name.substr(0, end == std::string_view::npos ? 0 : end);
    }
    return std::nullopt;
  }

 private:
  void join(const std::map<std::int32_t, std::size_t>& makers, std::int32_t tensor,
            std::size_t reader) {
    const auto maker = makers.find(tensor);
    if (tensor < 0 || maker == makers.end() || maker->second == reader) return;
    before[reader].insert(maker->second);
    after[maker->second].insert(reader);
  }
};

/// Groups while they are made: by layer, the layer that gives its group the name.
class Grouping {
 public:
  explicit Grouping(const MillraceSubnet& subnet) : graph_(subnet) {}

  /// A node without a layer in its name, which arranges memory for the next, counts with that one.
  void add(const NodeTime& node) {
    waiting_ += node.time;
    std::optional<std::size_t> layer = layer_in(node.name);
    if (!layer) layer = graph_.maker_of(node.name);
    if (!layer || *layer >= graph_.before.size()) return;
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
    std::map<std::size_t, GroupShare> by_name;
    double whole = 0;
    for (const auto& [layer, named] : named_) whole += named.time;
    for (const auto& [layer, named] : named_)
      by_name[layer] = {{},
                        named.kernel,
                        whole > 0 ? named.time / whole : 1.0 / static_cast<double>(named_.size())};
    for (std::size_t layer = 0; layer < graph_.before.size(); ++layer)
      by_name[home_of(layer)].layers.push_back(layer);
    std::vector<GroupShare> result;
    for (auto& [layer, group] : by_name) {
      if (group.layers.empty()) return {};
      result.push_back(std::move(group));
    }
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

  /// The layer that multiplies is named after the last one fused into it, others are fused into
  /// what makes their input.
  std::size_t home_of(std::size_t layer) const {
    if (named_.contains(layer)) return layer;
    const auto reader = after(layer), maker = before(layer);
    if (graph_.is_heavy[layer] && reader) return *reader;
    if (maker) return *maker;
    if (reader) return *reader;
    const auto next = named_.lower_bound(layer);
    return next == named_.end() ? std::prev(next)->first : next->first;
  }

  std::optional<std::size_t> after(std::size_t layer) const {
    while (graph_.after[layer].size() == 1) {
      layer = *graph_.after[layer].begin();
      if (named_.contains(layer)) return layer;
    }
    return std::nullopt;
  }

  std::optional<std::size_t> before(std::size_t layer) const {
    while (!graph_.before[layer].empty()) {
      layer = *graph_.before[layer].rbegin();
      if (named_.contains(layer)) return layer;
      // What multiplies was fused into what follows it.
      if (graph_.is_heavy[layer]) return home_of(layer);
    }
    return std::nullopt;
  }

  LayerGraph graph_;
  std::map<std::size_t, Named> named_;
  double waiting_ = 0;
  std::size_t last_ = 0;
};

GroupShare whole(const MillraceSubnet& subnet) {
  GroupShare group{{}, "onnxruntime", 1};
  for (std::size_t layer = 0; layer < subnet.layer_count; ++layer) group.layers.push_back(layer);
  return group;
}

}  // namespace

std::vector<GroupShare> measure_shares(const Provider& provider, const MillraceSubnet& subnet,
                                       const std::vector<int>& cores, const MillraceRun& run) {
  const TemporaryFolder folder;
  OnnxSession session(provider, subnet, {cores, false, folder.path() / "profile"});
  for (int i = 0; i < warm_runs + recorded_runs; ++i) session.run(run.inputs, run.outputs);
  Grouping grouping(subnet);
  for (const NodeTime& node : read_profile(session.end_profile())) grouping.add(node);
  std::vector<GroupShare> groups = grouping.groups();
  if (!groups.empty()) return groups;
  return {whole(subnet)};
}

}  // namespace millrace_onnxruntime
