#include "formats/zoo/builder.h"

#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <span>

#include "formats/random_weights.h"
#include "formats/zoo/attributes.h"

namespace millrace::formats::zoo {
namespace {

constexpr int opset = 13;
constexpr int ir_version = 7;

void describe(::onnx::ValueInfoProto& info, const Value& value) {
  info.set_name(value.name);
  auto& type = *info.mutable_type()->mutable_tensor_type();
  type.set_elem_type(::onnx::TensorProto::FLOAT);
  for (const std::int64_t size : value.shape) type.mutable_shape()->add_dim()->set_dim_value(size);
}

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

}  // namespace

struct Builder::Model {
  ::onnx::ModelProto proto;
  ::onnx::GraphProto& graph() { return *proto.mutable_graph(); }
};

Builder::Builder(const std::string& name, std::uint64_t seed)
    : model_(std::make_unique<Model>()), seed_(seed) {
  model_->proto.set_ir_version(ir_version);
  model_->proto.set_producer_name("millrace zoo");
  ::onnx::StringStringEntryProto& weights = *model_->proto.add_metadata_props();
  weights.set_key(random_weights_key);
  weights.set_value(fmt::format("architecture of the zoo, seed {}", seed_));
  model_->proto.add_opset_import()->set_version(opset);
  model_->graph().set_name(name);
}

Builder::~Builder() = default;

::onnx::NodeProto& Builder::node(const char* type, const std::vector<std::string>& inputs,
                                 const std::string& output) {
  auto& added = *model_->graph().add_node();
  added.set_op_type(type);
  added.set_name(output);
  for (const std::string& input : inputs) added.add_input(input);
  added.add_output(output);
  return added;
}

std::string Builder::constant(const std::string& name, const Shape& shape, const Spread& spread) {
  auto& tensor = *model_->graph().add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(::onnx::TensorProto::FLOAT);
  for (const std::int64_t size : shape) tensor.add_dims(size);
  const auto count = static_cast<std::size_t>(element_count(shape, name));
  std::string& bytes = *tensor.mutable_raw_data();
  bytes.resize(count * sizeof(float));
  fill_seeded(std::as_writable_bytes(std::span(bytes)), name, seed_, spread);
  return name;
}

Value Builder::input(Shape shape) {
  const Value value{"data", std::move(shape)};
  describe(*model_->graph().add_input(), value);
  return value;
}

Value Builder::conv(const std::string& name, const Value& x, const ConvSpec& spec) {
  const std::int64_t inputs = x.channels() / spec.groups;
  const Shape shape{spec.outputs, inputs, spec.kernel, spec.kernel};
  const Spread spread = he_spread(inputs * spec.kernel * spec.kernel);
  std::vector<std::string> names{x.name, constant(name + ".weight", shape, spread)};
  if (spec.bias) names.push_back(constant(name + ".bias", {spec.outputs}, bias_spread));
  auto& added = node("Conv", names, name);
  const PoolSpec window{spec.kernel, spec.stride, spec.pad, spec.pad};
  window_attributes(added, window);
  if (spec.groups != 1) attribute(added, "group", spec.groups);
  return {name, after_window(x.shape, spec.outputs, window)};
}

Value Builder::fully_connected(const std::string& name, const Value& x, std::int64_t outputs) {
  const std::int64_t inputs = x.channels();
  auto& added = node("Gemm",
                     {x.name, constant(name + ".weight", {outputs, inputs}, he_spread(inputs)),
                      constant(name + ".bias", {outputs}, bias_spread)},
                     name);
  attribute(added, "transB", std::int64_t{1});
  return {name, {x.shape[0], outputs}};
}

Value Builder::batch_norm(const std::string& name, const Value& x, float gain) {
  const Shape shape{x.channels()};
  auto& added = node(
      "BatchNormalization",
      {x.name, constant(name + ".scale", shape, scale_spread(gain)),
       constant(name + ".bias", shape, shift_spread), constant(name + ".mean", shape, shift_spread),
       constant(name + ".variance", shape, variance_spread)},
      name);
  attribute(added, "epsilon", 1e-5f);
  return {name, x.shape};
}

Value Builder::conv_bn(const std::string& name, const Value& x, ConvSpec spec, float gain) {
  spec.bias = false;
  return batch_norm(name + "_bn", conv(name, x, spec), gain);
}

Value Builder::lrn(const std::string& name, const Value& x) {
  auto& added = node("LRN", {x.name}, name);
  attribute(added, "size", std::int64_t{5});
  attribute(added, "alpha", 1e-4f);
  attribute(added, "beta", 0.75f);
  attribute(added, "bias", 1.0f);
  return {name, x.shape};
}

Value Builder::pool(const char* type, const std::string& name, const Value& x,
                    const PoolSpec& spec) {
  window_attributes(node(type, {x.name}, name), spec);
  return {name, after_window(x.shape, x.channels(), spec)};
}

Value Builder::max_pool(const std::string& name, const Value& x, const PoolSpec& spec) {
  return pool("MaxPool", name, x, spec);
}

Value Builder::average_pool(const std::string& name, const Value& x, const PoolSpec& spec) {
  return pool("AveragePool", name, x, spec);
}

Value Builder::global_average_pool(const std::string& name, const Value& x) {
  node("GlobalAveragePool", {x.name}, name);
  return {name, {x.shape[0], x.channels(), 1, 1}};
}

Value Builder::add(const std::string& name, const Value& a, const Value& b) {
  node("Add", {a.name, b.name}, name);
  return {name, a.shape};
}

Value Builder::concat(const std::string& name, const std::vector<Value>& parts) {
  Shape shape = parts.front().shape;
  shape[1] = 0;
  std::vector<std::string> names;
  for (const Value& part : parts) {
    names.push_back(part.name);
    shape[1] += part.channels();
  }
  attribute(node("Concat", names, name), "axis", std::int64_t{1});
  return {name, shape};
}

Value Builder::relu(const Value& x) {
  node("Relu", {x.name}, x.name + "_relu");
  return {x.name + "_relu", x.shape};
}

Value Builder::relu6(const Value& x) {
  const std::string name = x.name + "_relu6";
  const std::string low = constant(name + ".min", {}, {0, 0});
  const std::string high = constant(name + ".max", {}, {6, 0});
  node("Clip", {x.name, low, high}, name);
  return {name, x.shape};
}

Value Builder::leaky_relu(const Value& x) {
  const std::string name = x.name + "_leaky";
  attribute(node("LeakyRelu", {x.name}, name), "alpha", 0.1f);
  return {name, x.shape};
}

Value Builder::dropout(const Value& x) {
  node("Dropout", {x.name}, x.name + "_dropout");
  return {x.name + "_dropout", x.shape};
}

Value Builder::flatten(const Value& x) {
  const std::string name = x.name + "_flat";
  attribute(node("Flatten", {x.name}, name), "axis", std::int64_t{1});
  return {name, {x.shape[0], element_count(x.shape) / x.shape[0]}};
}

Value Builder::softmax(const Value& x) {
  attribute(node("Softmax", {x.name}, "prob"), "axis", std::int64_t{1});
  return {"prob", x.shape};
}

std::string Builder::constant(const std::string& name, const std::vector<std::int64_t>& values) {
  auto& tensor = *model_->graph().add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(::onnx::TensorProto::INT64);
  tensor.add_dims(static_cast<std::int64_t>(values.size()));
  for (const std::int64_t value : values) tensor.add_int64_data(value);
  return name;
}

void Builder::need_opset(std::int64_t version) {
  auto& opset_import = *model_->proto.mutable_opset_import(0);
  opset_import.set_version(std::max(opset_import.version(), version));
}

std::string Builder::finish(const std::vector<Value>& outputs) {
  for (const Value& x : outputs) describe(*model_->graph().add_output(), x);
  std::string bytes;
  bytes.reserve(model_->proto.ByteSizeLong());
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    model_->proto.SerializeWithCachedSizes(&coded);
  }
  return bytes;
}

}  // namespace millrace::formats::zoo
