#include "network/evaluate/evaluate.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "base/operation/interruption_point.h"
#include "network/evaluate/indexed/indices.h"
#include "network/evaluate/loops.h"
#include "network/operator_kinds.h"

namespace millrace::network {
namespace {

bool only_moves(const Operator& op) {
  if (const auto* resize = std::get_if<Resize>(&op)) return resize->mode == ResizeMode::nearest;
  if (const auto* scatter = std::get_if<ScatterElements>(&op))
    return scatter->reduction == Reduction::none;
  if (const auto* scatter = std::get_if<ScatterNd>(&op))
    return scatter->reduction == Reduction::none;
  return is_one_of<Concat, Split, Slice, Gather, Reshape, Transpose, Pad, DepthToSpace, Where, Tile,
                   GatherElements, GatherNd, VaryingPart, Opaque>(op);
}

void run(const Layer& layer, loops::Inputs in, loops::Outputs out) {
  std::visit([&](const auto& op) { loops::run(op, in, out); }, layer.op);
}

/// Converts the tensors of type `from`, computes in `to`, and converts back.
struct Widened {
  DataType from, to;

  void operator()(const Layer& layer, loops::Inputs in, loops::Outputs out) const {
    std::vector<Buffer> memory;
    std::vector<ConstView> wide_in(in.begin(), in.end());
    std::vector<View> wide_out(out.begin(), out.end());
    for (std::size_t i = 0; i < in.size(); ++i) {
      if (!in[i].present() || in[i].type != from) continue;
      const View wide = make(memory, in[i].shape);
      loops::run(Cast{}, in.subspan(i, 1), {&wide, 1});
      wide_in[i] = {to, in[i].shape, wide.data};
    }
    for (View& view : wide_out)
      if (view.present() && view.type == from) view = make(memory, view.shape);
    run(layer, wide_in, wide_out);
    for (std::size_t i = 0; i < out.size(); ++i) {
      const ConstView wide{to, out[i].shape, wide_out[i].data};
      if (wide_out[i].data != out[i].data) loops::run(Cast{}, {&wide, 1}, out.subspan(i, 1));
    }
  }

 private:
  View make(std::vector<Buffer>& memory, std::span<const std::int64_t> shape) const {
    memory.emplace_back(size_of(to) * loops::count(shape));
    return {to, shape, memory.back().data()};
  }
};

/// What to do where there are no loops for the tensors' own type. A quantised tensor's values have
/// the type of its scale.
std::optional<Widened> widened(const Operator& op, loops::Inputs in) {
  if (only_moves(op) || std::holds_alternative<Cast>(op)) return std::nullopt;
  const DataType type = in[std::holds_alternative<DequantizeLinear>(op) ? 1 : 0].type;
  if (type == DataType::float16) return Widened{type, DataType::float32};
  const bool is_float = type == DataType::float32 || type == DataType::float64;
  if (std::holds_alternative<Resize>(op) && !is_float) return Widened{type, DataType::float64};
  return std::nullopt;
}

/// By tensor: the last layer that reads it, or none.
std::vector<LayerId> last_readers(const Network& network) {
  std::vector<LayerId> last(network.tensors.size());
  for (std::size_t i = 0; i < network.layers.size(); ++i)
    for (const TensorId id : network.layers[i].inputs)
      if (id.valid()) last[id.index] = LayerId(i);
  for (const TensorId id : network.outputs) last[id.index] = LayerId();
  return last;
}

void check_inputs(const Network& network, std::span<const Array> inputs) {
  if (inputs.size() != network.inputs.size())
    throw InputError(network.name, fmt::format("{} inputs were given, the network has {}",
                                               inputs.size(), network.inputs.size()));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Tensor& wanted = network[network.inputs[i]];
    if (inputs[i].type != wanted.type || inputs[i].shape != wanted.shape)
      throw InputError(wanted.name, fmt::format("the input is {} {}, the network expects {} {}",
                                                to_text(inputs[i].type), to_text(inputs[i].shape),
                                                to_text(wanted.type), to_text(wanted.shape)));
  }
}

/// One array per tensor, as far as it is known and still needed.
class Values {
 public:
  Values(const Network& network, std::span<const Array> inputs)
      : network_(network), arrays_(network.tensors.size()) {
    for (std::size_t i = 0; i < arrays_.size(); ++i)
      if (network.tensors[i].constant) arrays_[i] = *network.tensors[i].constant;
    for (std::size_t i = 0; i < inputs.size(); ++i) arrays_[network.inputs[i].index] = inputs[i];
  }

  const Array& operator[](TensorId id) const { return arrays_[id.index]; }

  /// Whether to go on.
  bool compute(LayerId id, const AfterLayer& after) {
    const Layer& layer = network_[id];
    std::vector<ConstView> in;
    for (const TensorId id : layer.inputs)
      in.push_back(id.valid() ? ConstView{network_[id].type, network_[id].shape,
                                          arrays_[id.index].memory->data()}
                              : ConstView{});
    std::vector<Buffer> memory;
    std::vector<View> out;
    for (const TensorId id : layer.outputs) {
      memory.emplace_back(id.valid() ? network_[id].size() : Bytes{});
      out.push_back(id.valid() ? View{network_[id].type, network_[id].shape, memory.back().data()}
                               : View{});
    }
    evaluate(layer, in, out);
    const bool goes_on = !after || after(id, out);
    for (std::size_t i = 0; i < out.size(); ++i)
      if (layer.outputs[i].valid())
        arrays_[layer.outputs[i].index] =
            make_array(out[i].type, network_[layer.outputs[i]].shape, std::move(memory[i]));
    return goes_on;
  }

  void release(TensorId id) { arrays_[id.index] = {}; }

 private:
  const Network& network_;
  std::vector<Array> arrays_;
};

}  // namespace

void evaluate(const Layer& layer, std::span<const ConstView> inputs,
              std::span<const View> outputs) {
  const bool nothing_to_do = std::all_of(outputs.begin(), outputs.end(), [](const View& view) {
    return !view.present() || loops::count(view.shape) == 0;
  });
  if (nothing_to_do) return;
  interruption_point();
  loops::check_indices(layer, inputs);
  if (const auto wide = widened(layer.op, inputs)) return (*wide)(layer, inputs, outputs);
  run(layer, inputs, outputs);
}

Array converted(const Array& array, DataType type) {
  if (array.type == type) return array;
  Buffer memory(size_of(type) * element_count(array.shape));
  const ConstView from{array.type, array.shape, array.memory->data()};
  const View to{type, array.shape, memory.data()};
  loops::run(Cast{}, {&from, 1}, {&to, 1});
  return make_array(type, array.shape, std::move(memory));
}

std::vector<Array> evaluate(const Network& network, std::span<const Array> inputs,
                            const AfterLayer& after) {
  check_inputs(network, inputs);
  const std::vector<LayerId> last = last_readers(network);
  Values values(network, inputs);
  for (std::size_t i = 0; i < network.layers.size(); ++i) {
    const Layer& layer = network.layers[i];
    if (!values.compute(LayerId(i), after)) return {};
    for (const TensorId id : layer.inputs)
      if (id.valid() && last[id.index] == LayerId(i)) values.release(id);
  }
  std::vector<Array> outputs;
  for (const TensorId id : network.outputs) outputs.push_back(values[id]);
  return outputs;
}

}  // namespace millrace::network
