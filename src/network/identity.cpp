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
  void operator()(const Unary& op) const { add(h, op.alpha), add(h, op.beta); }
  void operator()(const Binary&) const {}
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
    add(h, op.scales), add(h, op.roi), add(h, op.cubic_a), add(h, op.extrapolation);
  }
  void operator()(const Softmax& op) const { h.add(op.axis).add(op.end); }
  void operator()(const Reduce& op) const { add(h, op.axes); }
  void operator()(const Cast&) const {}
  void operator()(const DepthToSpace& op) const {
    h.add(op.block).add(std::int64_t{op.column_row_depth});
  }
  void operator()(const ArgMax& op) const { h.add(op.axis).add(std::int64_t{op.select_last}); }
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
