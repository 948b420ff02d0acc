#include "network/zoo/builder.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <onnx/onnx_pb.h>

#include <charconv>
#include <cmath>
#include <cstring>

#include "base/hash.h"
#include "base/random.h"

namespace millrace::network::zoo {
namespace {

constexpr int opset = 13;
constexpr int ir_version = 7;

// Small beside the activations, but not 0, so that a forgotten bias shows.
constexpr float bias_spread = 0.0625f;

void attribute(onnx::NodeProto& node, const char* name, std::int64_t value) {
  auto& added = *node.add_attribute();
  added.set_name(name);
  added.set_type(onnx::AttributeProto::INT);
  added.set_i(value);
}

void attribute(onnx::NodeProto& node, const char* name, float value) {
  auto& added = *node.add_attribute();
  added.set_name(name);
  added.set_type(onnx::AttributeProto::FLOAT);
  added.set_f(value);
}

void attribute(onnx::NodeProto& node, const char* name, const Shape& values) {
  auto& added = *node.add_attribute();
  added.set_name(name);
  added.set_type(onnx::AttributeProto::INTS);
  for (const std::int64_t value : values) added.add_ints(value);
}

void describe(onnx::ValueInfoProto& info, const Value& value) {
  info.set_name(value.name);
  auto& type = *info.mutable_type()->mutable_tensor_type();
  type.set_elem_type(onnx::TensorProto::FLOAT);
  for (const std::int64_t size : value.shape) type.mutable_shape()->add_dim()->set_dim_value(size);
}

Shape after_window(const Shape& shape, std::int64_t channels, const PoolSpec& window) {
  const auto size = [&](std::int64_t s) {
    return (s + window.pad + window.pad_end - window.kernel) / window.stride + 1;
  };
  return {shape[0], channels, size(shape[2]), size(shape[3])};
}

void window_attributes(onnx::NodeProto& node, const PoolSpec& window) {
  attribute(node, "kernel_shape", Shape{window.kernel, window.kernel});
  attribute(node, "strides", Shape{window.stride, window.stride});
  attribute(node, "pads", Shape{window.pad, window.pad, window.pad_end, window.pad_end});
}

/// Half the width of the uniform distribution that keeps the variance through a ReLU.
float he_spread(std::int64_t fan_in) {
  return static_cast<float>(std::sqrt(6.0 / static_cast<double>(fan_in)));
}

std::uint64_t seed_of(const std::string& tensor, std::uint64_t seed) {
  const std::string digits =
      Hasher().add(tensor).add(static_cast<std::int64_t>(seed)).digits().substr(0, 16);
  std::uint64_t number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number, 16);
  return number;
}

}  // namespace

struct Builder::Model {
  onnx::ModelProto proto;
  onnx::GraphProto& graph() { return *proto.mutable_graph(); }
};

Builder::Builder(const std::string& name, std::uint64_t seed)
    : model_(std::make_unique<Model>()), seed_(seed) {
  model_->proto.set_ir_version(ir_version);
  model_->proto.set_producer_name("millrace zoo");
  model_->proto.add_opset_import()->set_version(opset);
  model_->graph().set_name(name);
}

Builder::~Builder() = default;

onnx::NodeProto& Builder::node(const char* type, const std::vector<std::string>& inputs,
                               const std::string& output) {
  auto& added = *model_->graph().add_node();
  added.set_op_type(type);
  added.set_name(output);
  for (const std::string& input : inputs) added.add_input(input);
  added.add_output(output);
  return added;
}

std::string Builder::constant(const std::string& name, const Shape& shape, float centre,
                              float spread) {
  auto& tensor = *model_->graph().add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(onnx::TensorProto::FLOAT);
  for (const std::int64_t size : shape) tensor.add_dims(size);
  const auto count = static_cast<std::size_t>(element_count(shape, name));
  std::string& bytes = *tensor.mutable_raw_data();
  bytes.resize(count * sizeof(float));
  Random random(seed_of(name, seed_));
  for (std::size_t i = 0; i < count; ++i) {
    // Where the centre is not 0 the spread is a power of two: the product is exact, and fusing
    // it with the sum, as some compilers do, cannot change the result.
    const auto step = static_cast<std::int32_t>(random() >> 40) - (1 << 23);
    const float value = centre + spread * (static_cast<float>(step) * 0x1.0p-23f);
    std::memcpy(bytes.data() + i * sizeof value, &value, sizeof value);
  }
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
  const float spread = he_spread(inputs * spec.kernel * spec.kernel);
  std::vector<std::string> names{x.name, constant(name + ".weight", shape, 0, spread)};
  if (spec.bias) names.push_back(constant(name + ".bias", {spec.outputs}, 0, bias_spread));
  auto& added = node("Conv", names, name);
  const PoolSpec window{spec.kernel, spec.stride, spec.pad, spec.pad};
  window_attributes(added, window);
  if (spec.groups != 1) attribute(added, "group", spec.groups);
  return {name, after_window(x.shape, spec.outputs, window)};
}

Value Builder::fully_connected(const std::string& name, const Value& x, std::int64_t outputs) {
  const std::int64_t inputs = x.channels();
  auto& added = node("Gemm",
                     {x.name, constant(name + ".weight", {outputs, inputs}, 0, he_spread(inputs)),
                      constant(name + ".bias", {outputs}, 0, bias_spread)},
                     name);
  attribute(added, "transB", std::int64_t{1});
  return {name, {x.shape[0], outputs}};
}

Value Builder::batch_norm(const std::string& name, const Value& x, float gain) {
  const Shape shape{x.channels()};
  auto& added = node("BatchNormalization",
                     {x.name, constant(name + ".scale", shape, gain, 0.125f),
                      constant(name + ".bias", shape, 0, 0.125f),
                      constant(name + ".mean", shape, 0, 0.125f),
                      constant(name + ".variance", shape, 1, 0.25f)},
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
  const std::string low = constant(name + ".min", {}, 0, 0);
  const std::string high = constant(name + ".max", {}, 6, 0);
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

std::string Builder::finish(const Value& x) {
  describe(*model_->graph().add_output(), x);
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

}  // namespace millrace::network::zoo
