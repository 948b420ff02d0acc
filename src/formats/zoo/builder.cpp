#include "formats/zoo/builder.h"

#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <span>

#include "formats/random_weights.h"

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
