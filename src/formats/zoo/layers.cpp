#include "formats/zoo/layers.h"

#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include "formats/zoo/attributes.h"

namespace millrace::formats::zoo {
namespace {

Shape after_window(const Shape& shape, std::int64_t channels, const PoolSpec& window) {
  const auto size = [&](std::int64_t s) {
    return (s + window.pad + window.pad_end - window.kernel) / window.stride + 1;
  };
  return {shape[0], channels, size(shape[2]), size(shape[3])};
}

void window_attributes(::onnx::NodeProto& node, const PoolSpec& window) {
  attribute(node, "kernel_shape", Shape{window.kernel, window.kernel});
  attribute(node, "strides", Shape{window.stride, window.stride});
  attribute(node, "pads", Shape{window.pad, window.pad, window.pad_end, window.pad_end});
}

Value pool(::onnx::NodeProto& node, const Value& x, const PoolSpec& spec) {
  window_attributes(node, spec);
  return {node.name(), after_window(x.shape, x.channels(), spec)};
}

Value unary(Builder& net, const char* type, const Value& x, const std::string& name) {
  net.node(type, {x.name}, name);
  return {name, x.shape};
}

}  // namespace

Value conv(Builder& net, const std::string& name, const Value& x, const ConvSpec& spec) {
  const std::int64_t inputs = x.channels() / spec.groups;
  const Shape shape{spec.outputs, inputs, spec.kernel, spec.kernel};
  const Spread spread = he_spread(inputs * spec.kernel * spec.kernel);
  std::vector<std::string> names{x.name, net.constant(name + ".weight", shape, spread)};
  if (spec.bias) names.push_back(net.constant(name + ".bias", {spec.outputs}, bias_spread));
  auto& added = net.node("Conv", names, name);
  const PoolSpec window{spec.kernel, spec.stride, spec.pad, spec.pad};
  window_attributes(added, window);
  if (spec.groups != 1) attribute(added, "group", spec.groups);
  return {name, after_window(x.shape, spec.outputs, window)};
}

Value fully_connected(Builder& net, const std::string& name, const Value& x, std::int64_t outputs) {
  const std::int64_t inputs = x.channels();
  auto& added =
      net.node("Gemm",
               {x.name, net.constant(name + ".weight", {outputs, inputs}, he_spread(inputs)),
                net.constant(name + ".bias", {outputs}, bias_spread)},
               name);
  attribute(added, "transB", std::int64_t{1});
  return {name, {x.shape[0], outputs}};
}

Value batch_norm(Builder& net, const std::string& name, const Value& x, float gain) {
  const Shape shape{x.channels()};
  auto& added = net.node("BatchNormalization",
                         {x.name, net.constant(name + ".scale", shape, scale_spread(gain)),
                          net.constant(name + ".bias", shape, shift_spread),
                          net.constant(name + ".mean", shape, shift_spread),
                          net.constant(name + ".variance", shape, variance_spread)},
                         name);
  attribute(added, "epsilon", 1e-5f);
  return {name, x.shape};
}

Value conv_bn(Builder& net, const std::string& name, const Value& x, ConvSpec spec) {
  spec.bias = false;
  return batch_norm(net, name + "_bn", conv(net, name, x, spec), spec.gain);
}

Value lrn(Builder& net, const std::string& name, const Value& x) {
  auto& added = net.node("LRN", {x.name}, name);
  attribute(added, "size", std::int64_t{5});
  attribute(added, "alpha", 1e-4f);
  attribute(added, "beta", 0.75f);
  attribute(added, "bias", 1.0f);
  return {name, x.shape};
}

Value max_pool(Builder& net, const std::string& name, const Value& x, const PoolSpec& spec) {
  return pool(net.node("MaxPool", {x.name}, name), x, spec);
}

Value average_pool(Builder& net, const std::string& name, const Value& x, const PoolSpec& spec) {
  return pool(net.node("AveragePool", {x.name}, name), x, spec);
}

Value global_average_pool(Builder& net, const std::string& name, const Value& x) {
  net.node("GlobalAveragePool", {x.name}, name);
  return {name, {x.shape[0], x.channels(), 1, 1}};
}

Value add(Builder& net, const std::string& name, const Value& a, const Value& b) {
  net.node("Add", {a.name, b.name}, name);
  return {name, a.shape};
}

Value concat(Builder& net, const std::string& name, const std::vector<Value>& parts) {
  Shape shape = parts.front().shape;
  shape[1] = 0;
  std::vector<std::string> names;
  for (const Value& part : parts) {
    names.push_back(part.name);
    shape[1] += part.channels();
  }
  attribute(net.node("Concat", names, name), "axis", std::int64_t{1});
  return {name, shape};
}

Value relu(Builder& net, const Value& x) { return unary(net, "Relu", x, x.name + "_relu"); }

Value mish(Builder& net, const Value& x) {
  constexpr std::int64_t first_with_mish = 18;
  net.need_opset(first_with_mish);
  return unary(net, "Mish", x, x.name + "_mish");
}

Value sigmoid(Builder& net, const std::string& name, const Value& x) {
  return unary(net, "Sigmoid", x, name);
}

Value dropout(Builder& net, const Value& x) {
  return unary(net, "Dropout", x, x.name + "_dropout");
}

Value softmax(Builder& net, const Value& x) { return softmax(net, "prob", x); }

Value relu6(Builder& net, const Value& x) {
  const std::string name = x.name + "_relu6";
  const std::string low = net.constant(name + ".min", {}, {0, 0});
  const std::string high = net.constant(name + ".max", {}, {6, 0});
  net.node("Clip", {x.name, low, high}, name);
  return {name, x.shape};
}

Value leaky_relu(Builder& net, const Value& x) {
  const std::string name = x.name + "_leaky";
  attribute(net.node("LeakyRelu", {x.name}, name), "alpha", 0.1f);
  return {name, x.shape};
}

Value flatten(Builder& net, const Value& x) {
  const std::string name = x.name + "_flat";
  attribute(net.node("Flatten", {x.name}, name), "axis", std::int64_t{1});
  return {name, {x.shape[0], element_count(x.shape) / x.shape[0]}};
}

Value affine(Builder& net, const std::string& name, const Value& x, const Affine& map) {
  const std::string scaled = name + "_scaled", shifted = name + "_shifted";
  net.node("Mul", {x.name, net.constant(name + ".factor", {1}, {map.factor, 0})}, scaled);
  net.node("Sub", {scaled, net.constant(name + ".shift", {1}, {map.less, 0})}, shifted);
  return {shifted, x.shape};
}

Value softmax(Builder& net, const std::string& name, const Value& x) {
  attribute(net.node("Softmax", {x.name}, name), "axis", std::int64_t{1});
  return {name, x.shape};
}

Value upsample(Builder& net, const std::string& name, const Value& x, std::int64_t factor) {
  const Shape shape{x.shape[0], x.shape[1], x.shape[2] * factor, x.shape[3] * factor};
  const std::string sizes = net.constant(name + ".sizes", shape);
  auto& added = net.node("Resize", {x.name, "", "", sizes}, name);
  attribute(added, "mode", "nearest");
  attribute(added, "coordinate_transformation_mode", "asymmetric");
  attribute(added, "nearest_mode", "floor");
  return {name, shape};
}

Value reshape(Builder& net, const std::string& name, const Value& x, const Shape& shape) {
  net.node("Reshape", {x.name, net.constant(name + ".shape", shape)}, name);
  return {name, shape};
}

Value transpose(Builder& net, const std::string& name, const Value& x, const Shape& permutation) {
  attribute(net.node("Transpose", {x.name}, name), "perm", permutation);
  Shape shape;
  for (const std::int64_t dimension : permutation)
    shape.push_back(x.shape[static_cast<std::size_t>(dimension)]);
  return {name, shape};
}

Value channels(Builder& net, const std::string& name, const Value& x, const ChannelRange& range) {
  const std::string start = net.constant(name + ".start", Shape{range.first});
  const std::string end = net.constant(name + ".end", Shape{range.first + range.count});
  net.node("Slice", {x.name, start, end, net.constant(name + ".axis", Shape{1})}, name);
  Shape shape = x.shape;
  shape[1] = range.count;
  return {name, shape};
}

Value pad_channels(Builder& net, const std::string& name, const Value& x, std::int64_t count) {
  const Shape pads{0, 0, 0, 0, 0, count - x.channels(), 0, 0};
  net.node("Pad", {x.name, net.constant(name + ".pads", pads)}, name);
  Shape shape = x.shape;
  shape[1] = count;
  return {name, shape};
}

std::vector<Value> split(Builder& net, const std::string& name, const Value& x,
                         const Shape& sizes) {
  auto& added = net.node("Split", {x.name, net.constant(name + ".sizes", sizes)}, name + "_0");
  added.set_name(name);
  attribute(added, "axis", std::int64_t{1});
  std::vector<Value> parts;
  for (const std::int64_t size : sizes) {
    Shape shape = x.shape;
    shape[1] = size;
    parts.push_back({fmt::format("{}_{}", name, parts.size()), std::move(shape)});
    if (parts.size() > 1) added.add_output(parts.back().name);
  }
  return parts;
}

}  // namespace millrace::formats::zoo
