// The hash of a network: structure, shapes, attributes and constants, not names of tensors.
#include <bit>

#include "base/hash.h"
#include "network/network.h"

namespace millrace::network {
namespace {

void add(Hasher& hasher, const Shape& shape) {
  hasher.add(static_cast<std::int64_t>(shape.size()));
  for (const std::int64_t size : shape) hasher.add(size);
}
void add(Hasher& hasher, double value) { hasher.add(std::bit_cast<std::int64_t>(value)); }
void add(Hasher& hasher, const std::vector<double>& values) {
  hasher.add(static_cast<std::int64_t>(values.size()));
  for (const double value : values) add(hasher, value);
}
void add(Hasher& hasher, const Window& window) {
  for (const Shape* part :
       {&window.kernel, &window.strides, &window.dilations, &window.pads_begin, &window.pads_end})
    add(hasher, *part);
}
void add(Hasher& hasher, const Scaling& scaling) { hasher.add(scaling.axis).add(scaling.block); }

/// Feeds the attributes of one operator.
struct Attributes {
  Hasher& h;

  void operator()(const Conv& op) const { add(h, op.window), h.add(op.groups); }
  void operator()(const ConvTranspose& op) const { add(h, op.window), h.add(op.groups); }
  void operator()(const Gemm& op) const {
    h.add(std::int64_t{op.transpose_a}).add(std::int64_t{op.transpose_b});
    add(h, double{op.alpha}), add(h, double{op.beta});
  }
  void operator()(const MatMul&) const {}
  void operator()(const BatchNormalization& op) const { add(h, double{op.epsilon}); }
  void operator()(const Lrn& op) const {
    h.add(op.size);
    add(h, double{op.alpha}), add(h, double{op.beta}), add(h, double{op.bias});
  }
  void operator()(const Pool& op) const {
    add(h, op.window);
    h.add(std::int64_t{op.count_include_pad}).add(std::int64_t{op.column_major_indices});
  }
  /// Kinds that share a name: Gelu and its approximation, the two forms of Mod.
  void operator()(const Unary& op) const {
    add(h, op.alpha), add(h, op.beta);
    if (op.kind == UnaryKind::gelu_tanh) h.add(std::int64_t{1});
  }
  void operator()(const Binary& op) const {
    if (op.kind == BinaryKind::fmod) h.add(std::int64_t{1});
  }
  void operator()(const Concat& op) const { h.add(op.axis); }
  void operator()(const Split& op) const { h.add(op.axis); }
  void operator()(const Slice& op) const { add(h, op.starts), add(h, op.steps); }
  void operator()(const Gather& op) const { h.add(op.axis); }
  void operator()(const Reshape&) const {}
  void operator()(const Transpose& op) const { add(h, op.permutation); }
  void operator()(const Pad& op) const {
    h.add(static_cast<std::int64_t>(op.mode));
    add(h, op.begin), add(h, op.end), add(h, op.value);
  }
  void operator()(const Resize& op) const {
    h.add(static_cast<std::int64_t>(op.mode)).add(static_cast<std::int64_t>(op.coordinates));
    h.add(static_cast<std::int64_t>(op.nearest)).add(std::int64_t{op.exclude_outside});
    if (op.antialias) h.add(std::int64_t{1});
    add(h, op.scales), add(h, op.roi), add(h, op.cubic_a), add(h, op.extrapolation);
  }
  void operator()(const Softmax& op) const { h.add(op.axis).add(op.end); }
  void operator()(const Reduce& op) const { add(h, op.axes); }
  void operator()(const Cast&) const {}
  void operator()(const DepthToSpace& op) const {
    h.add(op.block).add(std::int64_t{op.column_row_depth});
  }
  void operator()(const ArgMax& op) const { h.add(op.axis).add(std::int64_t{op.select_last}); }
  void operator()(const Normalization& op) const { h.add(op.axis), add(h, double{op.epsilon}); }
  void operator()(const Compare&) const {}
  void operator()(const Test& op) const {
    h.add(std::int64_t{op.negative}).add(std::int64_t{op.positive});
  }
  void operator()(const Where&) const {}
  void operator()(const Tile&) const {}
  void operator()(const GatherElements& op) const { h.add(op.axis); }
  void operator()(const GatherNd& op) const { h.add(op.batch_dimensions); }
  void operator()(const ScatterElements& op) const {
    h.add(op.axis).add(static_cast<std::int64_t>(op.reduction));
  }
  void operator()(const ScatterNd& op) const { h.add(static_cast<std::int64_t>(op.reduction)); }
  void operator()(const TopK& op) const { h.add(op.axis).add(std::int64_t{op.largest}); }
  void operator()(const OneHot& op) const { h.add(op.axis); }
  void operator()(const GridSample& op) const {
    h.add(static_cast<std::int64_t>(op.mode)).add(static_cast<std::int64_t>(op.padding));
    h.add(std::int64_t{op.align_corners});
  }
  void operator()(const NonMaxSuppression& op) const {
    h.add(op.most_per_class).add(std::int64_t{op.has_score}).add(std::int64_t{op.centre_and_size});
    add(h, double{op.overlap}), add(h, double{op.score});
  }
  void operator()(const RoiAlign& op) const {
    add(h, double{op.scale});
    h.add(op.sampling_ratio).add(std::int64_t{op.maximum}).add(std::int64_t{op.half_pixel});
  }
  void operator()(const CumSum& op) const {
    h.add(op.axis).add(std::int64_t{op.exclusive}).add(std::int64_t{op.reverse});
  }
  void operator()(const Recurrent& op) const {
    h.add(static_cast<std::int64_t>(op.direction)).add(op.hidden).add(std::int64_t{op.batch_first});
    h.add(std::int64_t{op.linear_before_reset}).add(std::int64_t{op.couples_gates});
    add(h, double{op.clip});
    for (const Gate& gate : op.gates) {
      h.add(static_cast<std::int64_t>(gate.function));
      add(h, double{gate.alpha}), add(h, double{gate.beta});
    }
  }
  void operator()(const VaryingPart& op) const {
    h.add(*op.model);
    for (const std::string& name : op.inputs) h.add(name);
    for (const DataType type : op.types) h.add(to_text(type));
  }
  void operator()(const Opaque& op) const {
    h.add(*op.model);
    for (const auto* names : {&op.inputs, &op.outputs})
      for (const std::string& name : *names) h.add(name);
    for (const auto* types : {&op.types, &op.made})
      for (const DataType type : *types) h.add(to_text(type));
  }
  void operator()(const QuantizeLinear& op) const { add(h, op.scaling); }
  void operator()(const DequantizeLinear& op) const { add(h, op.scaling); }
  void operator()(const DynamicQuantizeLinear&) const {}
  void operator()(const ConvInteger& op) const { add(h, op.window), h.add(op.groups); }
  void operator()(const MatMulInteger&) const {}
  void operator()(const QLinearConv& op) const { add(h, op.window), h.add(op.groups); }
  void operator()(const QLinearMatMul&) const {}
};

void add(Hasher& hasher, const Quantized& quantized) {
  hasher.add(to_text(quantized.values.type)).add(quantized.values.digest());
  hasher.add(quantized.scale.digest());
  if (quantized.zero_point) hasher.add(quantized.zero_point->digest());
  add(hasher, quantized.scaling);
}

void add_ids(Hasher& hasher, const std::vector<TensorId>& ids) {
  hasher.add(static_cast<std::int64_t>(ids.size()));
  for (const TensorId id : ids) hasher.add(static_cast<std::int64_t>(id.index));
}

}  // namespace

std::string hash_of(const Network& network) {
  Hasher hasher;
  for (const Tensor& tensor : network.tensors) {
    hasher.add(to_text(tensor.type));
    add(hasher, tensor.shape);
    if (tensor.constant) hasher.add(tensor.constant->digest());
    if (tensor.quantized) add(hasher, *tensor.quantized);
  }
  for (const Layer& layer : network.layers) {
    hasher.add(name_of(layer.op));
    std::visit(Attributes{hasher}, layer.op);
    add_ids(hasher, layer.inputs);
    add_ids(hasher, layer.outputs);
  }
  add_ids(hasher, network.inputs);
  add_ids(hasher, network.outputs);
  return hasher.digits();
}

}  // namespace millrace::network
