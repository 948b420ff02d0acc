#include "support/onnx_model.h"

#include <onnx/onnx_pb.h>

namespace millrace::test {
namespace {

using network::Array;
using network::DataType;

int code_of(DataType type) {
  switch (type) {
    case DataType::float32: return ::onnx::TensorProto::FLOAT;
    case DataType::float64: return ::onnx::TensorProto::DOUBLE;
    case DataType::float16: return ::onnx::TensorProto::FLOAT16;
    case DataType::int8: return ::onnx::TensorProto::INT8;
    case DataType::uint8: return ::onnx::TensorProto::UINT8;
    case DataType::int16: return ::onnx::TensorProto::INT16;
    case DataType::uint16: return ::onnx::TensorProto::UINT16;
    case DataType::int32: return ::onnx::TensorProto::INT32;
    case DataType::uint32: return ::onnx::TensorProto::UINT32;
    case DataType::int64: return ::onnx::TensorProto::INT64;
    case DataType::uint64: return ::onnx::TensorProto::UINT64;
    case DataType::boolean: return ::onnx::TensorProto::BOOL;
  }
  return ::onnx::TensorProto::UNDEFINED;
}

void fill(::onnx::TensorProto& proto, const Array& value) {
  proto.set_data_type(code_of(value.type));
  for (const std::int64_t size : value.shape) proto.add_dims(size);
  proto.set_raw_data(value.bytes().data(), value.bytes().size());
}

::onnx::AttributeProto& add(::onnx::NodeProto& node, const std::string& name,
                            ::onnx::AttributeProto::AttributeType type) {
  ::onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(type);
  return attribute;
}

}  // namespace

OnnxNode& OnnxNode::set(const std::string& name, std::int64_t value) {
  add(*proto_, name, ::onnx::AttributeProto::INT).set_i(value);
  return *this;
}
OnnxNode& OnnxNode::set_number(const std::string& name, float value) {
  add(*proto_, name, ::onnx::AttributeProto::FLOAT).set_f(value);
  return *this;
}
OnnxNode& OnnxNode::set_numbers(const std::string& name, const std::vector<float>& values) {
  ::onnx::AttributeProto& attribute = add(*proto_, name, ::onnx::AttributeProto::FLOATS);
  for (const float value : values) attribute.add_floats(value);
  return *this;
}
OnnxNode& OnnxNode::set_text(const std::string& name, const std::string& value) {
  add(*proto_, name, ::onnx::AttributeProto::STRING).set_s(value);
  return *this;
}
OnnxNode& OnnxNode::set_list(const std::string& name, const std::vector<std::int64_t>& values) {
  ::onnx::AttributeProto& attribute = add(*proto_, name, ::onnx::AttributeProto::INTS);
  for (const std::int64_t value : values) attribute.add_ints(value);
  return *this;
}
OnnxNode& OnnxNode::set_tensor(const std::string& name, const Array& value) {
  fill(*add(*proto_, name, ::onnx::AttributeProto::TENSOR).mutable_t(), value);
  return *this;
}
OnnxNode& OnnxNode::named(const std::string& name) {
  proto_->set_name(name);
  return *this;
}

OnnxModel::OnnxModel(std::int64_t opset) : proto_(std::make_unique<::onnx::ModelProto>()) {
  proto_->set_ir_version(7);
  proto_->add_opset_import()->set_version(opset);
  proto_->mutable_graph()->set_name("graph");
}
OnnxModel::~OnnxModel() = default;
OnnxModel::OnnxModel(OnnxModel&&) noexcept = default;

OnnxModel& OnnxModel::input(const std::string& name, const network::Shape& shape, DataType type) {
  ::onnx::ValueInfoProto& info = *proto_->mutable_graph()->add_input();
  info.set_name(name);
  ::onnx::TypeProto::Tensor& tensor = *info.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(code_of(type));
  tensor.mutable_shape();
  for (const std::int64_t size : shape) {
    ::onnx::TensorShapeProto::Dimension& dimension = *tensor.mutable_shape()->add_dim();
    if (size < 0) dimension.set_dim_param("N");
    if (size >= 0) dimension.set_dim_value(size);
  }
  return *this;
}

OnnxModel& OnnxModel::output(const std::string& name) {
  proto_->mutable_graph()->add_output()->set_name(name);
  return *this;
}

OnnxModel& OnnxModel::weight(const std::string& name, const network::Shape& shape) {
  std::vector<float> values(static_cast<std::size_t>(network::element_count(shape)));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(i % 100 + 1) / 100;
  return weight(name, floats(shape, values));
}

OnnxModel& OnnxModel::weight(const std::string& name, const Array& value) {
  ::onnx::TensorProto& proto = *proto_->mutable_graph()->add_initializer();
  proto.set_name(name);
  fill(proto, value);
  return *this;
}

OnnxModel& OnnxModel::integers(const std::string& name, const std::vector<std::int64_t>& values) {
  return weight(name, network::make_array<std::int64_t>(DataType::int64, {std::ssize(values)},
                                                        values));
}

OnnxNode OnnxModel::node(const std::string& op_type, const std::vector<std::string>& inputs,
                         const std::vector<std::string>& outputs) {
  ::onnx::NodeProto& node = *proto_->mutable_graph()->add_node();
  node.set_op_type(op_type);
  for (const std::string& input : inputs) node.add_input(input);
  for (const std::string& output : outputs) node.add_output(output);
  return OnnxNode(node);
}

std::string OnnxModel::bytes() const { return proto_->SerializeAsString(); }

network::Network OnnxModel::read(const formats::ModelSource& options) const {
  return formats::read_onnx(bytes(), "model.onnx", ".", options);
}

Array floats(const std::vector<float>& values) { return floats({std::ssize(values)}, values); }

Array floats(const network::Shape& shape, const std::vector<float>& values) {
  return network::make_array<float>(DataType::float32, shape, values);
}

}  // namespace millrace::test
