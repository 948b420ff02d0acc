// Whether a program does what the layers that it names do: its kernels trust it.
#include <fmt/format.h>

#include <algorithm>

#include "workload/check/check.h"
#include "workload/check/data_flow.h"
#include "workload/facts.h"
#include "workload/geometry.h"
#include "workload/words.h"

namespace millrace::workload {
namespace {

constexpr std::int64_t float_bytes = sizeof(float), sum_bytes = sizeof(std::int32_t);

class AgainstNetwork {
 public:
  AgainstNetwork(const Workload& workload, const network::Network& network)
      : workload_(workload), network_(network) {}

  std::vector<std::string> violations() {
    if (workload_.layer >= network_.layers.size())
      return {in_workload(fmt::format("there is no layer {}", workload_.layer))};
    for (const Region& buffer : workload_.buffers) check_buffer(buffer);
    for (const Link& link : workload_.links) check_link(link);
    return std::move(found_);
  }

 private:
  std::string in_workload(const std::string& text) const {
    return fmt::format("workload '{}': {}", workload_.name, text);
  }
  void fail(const std::string& text) { found_.push_back(in_workload(text)); }
  void fail(const Link& link, const std::string& text) {
    fail(fmt::format("link '{}': {}", link.name, text));
  }
  const Region& buffer_of(const Joint& joint) const {
    return workload_.buffers[static_cast<std::size_t>(joint.buffer)];
  }

  void check_buffer(const Region& buffer) {
    if (buffer.memory == 0 && !buffer.tensor)
      return fail(
          fmt::format("buffer '{}' is in the first memory, and names no tensor", buffer.name));
    if (buffer.memory != 0 && buffer.offset % float_bytes != 0)
      return fail(fmt::format("buffer '{}' begins at byte {}, expected a multiple of {}",
                              buffer.name, buffer.offset, float_bytes));
    if (!buffer.tensor) return;
    const bool fits = *buffer.tensor < network_.tensors.size() &&
                      network_.tensors[*buffer.tensor].size().count == buffer.size();
    if (!fits)
      fail(fmt::format("buffer '{}' has {} bytes, and is no tensor of the network", buffer.name,
                       buffer.size()));
  }

  void check_link(const Link& link) {
    const std::size_t layer = link.layer.value_or(workload_.layer);
    if (layer >= network_.layers.size())
      return fail(link, fmt::format("there is no layer {}", layer));
    check_output(link);
    if (link.kind == LinkKind::transfer) return;
    if (link.operation == TileOperation::requantize) return check_requantize(link, LayerId(layer));
    if (link.operation != TileOperation::whole) return check_layer(link, LayerId(layer));
    if (layer != workload_.layer)
      fail(link, "it computes a whole layer, which is not the workload's");
  }

  /// A tensor of the network is only written by the layer that makes it.
  void check_output(const Link& link) {
    const Region& buffer = buffer_of(link.sink);
    if (buffer.memory != 0 || !buffer.tensor) return;
    const auto writes = [&](std::size_t layer) {
      const auto& outputs = network_.layers[layer].outputs;
      return std::ranges::find(outputs, TensorId(*buffer.tensor)) != outputs.end();
    };
    if (writes(workload_.layer)) return;
    const bool any = std::ranges::any_of(workload_.links, [&](const Link& other) {
      const std::optional<LayerId> activation = activation_with(other);
      return (other.layer && *other.layer < network_.layers.size() && writes(*other.layer)) ||
             (activation && writes(activation->index));
    });
    if (!any)
      fail(link, fmt::format("it writes to the tensor '{}', which is no output of its layers",
                             buffer.name));
  }

  /// The layer behind a convolution that the link computes with it.
  std::optional<LayerId> activation_with(const Link& link) const {
    const std::size_t layer = link.layer.value_or(workload_.layer);
    if (!link.activation || layer >= network_.layers.size()) return std::nullopt;
    for (const TensorId output : network_.layers[layer].outputs)
      for (std::size_t i = 0; i < network_.layers.size(); ++i) {
        const network::Layer& reader = network_.layers[i];
        const bool reads = reader.inputs.size() == 1 && reader.inputs[0] == output;
        if (reads && activation_of(reader.op) == link.activation) return LayerId(i);
      }
    return std::nullopt;
  }

  void check_layer(const Link& link, LayerId layer) {
    const LayerGeometry geometry = geometry_of(network_, layer, float_bytes);
    const std::string& name = network_[layer].name;
    if (geometry.operation != link.operation)
      return fail(link, fmt::format("it computes by '{}', but the layer '{}' needs '{}'",
                                    operation_words[static_cast<std::size_t>(link.operation)], name,
                                    operation_words[static_cast<std::size_t>(geometry.operation)]));
    if (slides(link.operation) && !(geometry.window == link.window))
      return fail(link, fmt::format("its window is not that of the layer '{}'", name));
    if (link.activation && !activation_with(link))
      return fail(link, fmt::format("its activation is not that of a layer behind '{}'", name));
    if (geometry.scaling != link.scaling)
      return fail(link, fmt::format("its scales and zero points are not those of the layer '{}'",
                                    name));
    std::vector<Operand> sources = geometry.sources;
    Operand sink = geometry.output;
    if (geometry.scaling && link.sink.element == sum_bytes) {
      sink.element = sum_bytes;
      if (geometry.scaling->by_channel) sources.pop_back();
    }
    check_joints(link, sources, sink, name);
  }

  void check_joints(const Link& link, const std::vector<Operand>& sources, const Operand& sink,
                    const std::string& name) {
    if (sources.size() != link.sources.size())
      return fail(link, fmt::format("it has {} sources, but the layer '{}' has {}",
                                    link.sources.size(), name, sources.size()));
    for (std::size_t i = 0; i < sources.size(); ++i)
      check_source(link, link.sources[i], sources[i]);
    check_element(link, link.sink, sink);
  }

  /// Checks the sums of a layer between 8-bit integers.
  void check_requantize(const Link& link, LayerId layer) {
    const LayerGeometry geometry = geometry_of(network_, layer, float_bytes);
    if (!multiplies(geometry.operation) || geometry.scaling != link.scaling)
      return fail(link, fmt::format("its scales and zero points are not those of the layer '{}'",
                                    network_[layer].name));
    std::vector<Operand> sources{geometry.output};
    sources.front().element = sum_bytes;
    if (geometry.scaling->by_channel) sources.push_back(geometry.sources.back());
    check_joints(link, sources, geometry.output, network_[layer].name);
  }

  bool check_element(const Link& link, const Joint& joint, const Operand& operand) {
    if (joint.element == operand.element) return true;
    const bool is_float = network_[operand.tensor].type == network::DataType::float32;
    fail(link, fmt::format("its elements have {} bytes; {}, of {}", joint.element,
                           is_float ? "networks run in float32"
                                    : "those of '" + operand.name + "' are integers",
                           operand.element));
    return false;
  }

  void check_source(const Link& link, const Joint& joint, const Operand& operand) {
    if (!check_element(link, joint, operand)) return;
    const std::size_t sides = operand.sides.size();
    // Rows of columns may be one side or two.
    if (sides < 2 ? joint.side_count != sides : joint.side_count < 2)
      fail(link, fmt::format("its tiles of '{}' have {} sides, expected {}", operand.name,
                             joint.side_count, sides));
  }

  const Workload& workload_;
  const network::Network& network_;
  std::vector<std::string> found_;
};

}  // namespace

std::vector<std::string> violations(const Program& program, const network::Network& network) {
  std::vector<std::string> found;
  if (program.network_hash != network::hash_of(network))
    found.push_back(
        fmt::format("the program is for the network '{}' with hash {}, not for this one",
                    program.network, program.network_hash));
  for (const Workload& workload : program.workloads)
    for (const std::string& text : AgainstNetwork(workload, network).violations())
      found.push_back(text);
  const auto is_there = [&](std::size_t tensor) { return tensor < network.tensors.size(); };
  if (program.ends && !(std::ranges::all_of(program.ends->inputs, is_there) &&
                        std::ranges::all_of(program.ends->outputs, is_there)))
    found.emplace_back("an input or output of the program is no tensor of the network");
  return found.empty() ? data_flow_violations(program, &network) : found;
}

}  // namespace millrace::workload
