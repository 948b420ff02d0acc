#include "formats/onnx_writer/graph.h"

#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include "base/error.h"
#include "formats/onnx/types.h"
#include "formats/zoo/attributes.h"

namespace millrace::formats::onnx_writer {
namespace {

constexpr Bytes largest_inside{1024};  // constants that are inside in any case
constexpr std::size_t largest_model = (std::size_t{1} << 31) - 1;

/// The oldest version of the file format that has the opset.
std::int64_t format_of(std::int64_t opset) {
  if (opset <= 13) return 7;
  if (opset <= 18) return 8;
  return opset <= 20 ? 9 : 10;
}

void set_values(::onnx::TensorProto& proto, const Array& value) {
  const std::span<const std::byte> bytes = value.bytes();
  proto.set_raw_data(bytes.data(), bytes.size());
}

void set_type(::onnx::TensorProto& proto, DataType type, const Shape& shape) {
  proto.set_data_type(onnx::number_of(type));
  for (const std::int64_t size : shape) proto.add_dims(size);
}

/// Where the values are in a file beside the model.
struct Place {
  const std::string& file;
  std::int64_t offset = 0;
  Bytes size;
};

void set_external(::onnx::TensorProto& proto, const Place& place) {
  proto.set_data_location(::onnx::TensorProto::EXTERNAL);
  const auto say = [&](const char* key, const std::string& value) {
    auto& entry = *proto.add_external_data();
    entry.set_key(key);
    entry.set_value(value);
  };
  say("location", place.file);
  say("offset", std::to_string(place.offset));
  say("length", std::to_string(place.size.count));
}

/// The first of base, base_2, base_3, ... that is not among the names, which it then is.
std::string first_free(const std::string& base, std::unordered_set<std::string>& names) {
  std::string name = base;
  for (std::size_t i = 2; !names.insert(name).second; ++i) name = fmt::format("{}_{}", base, i);
  return name;
}

/// Readers that map the file can use weights where they lie.
std::int64_t after_weight(std::int64_t offset, Bytes size) {
  constexpr auto alignment = static_cast<std::int64_t>(network::tensor_alignment);
  return (offset + size.count + alignment - 1) / alignment * alignment;
}

bool is_whole(DataType type) { return type == DataType::int16 || type == DataType::uint16; }

}  // namespace

Graph::Graph(const Network& network, Form form)
    : network_(network),
      form_(form),
      needed_opset_(form.opset),
      model_(std::make_unique<::onnx::ModelProto>()) {
  model_->set_ir_version(format_of(form.opset));
  model_->set_producer_name("millrace");
  model_->add_opset_import()->set_version(form.opset);
  graph().set_name(network.name.empty() ? "network" : network.name);
}

Graph::~Graph() = default;

::onnx::GraphProto& Graph::graph() { return *model_->mutable_graph(); }

void Graph::need_opset(std::int64_t version) { needed_opset_ = std::max(needed_opset_, version); }

void Graph::need_domain(const std::string& domain, std::int64_t version) {
  for (::onnx::OperatorSetIdProto& opset : *model_->mutable_opset_import()) {
    if (opset.domain() != domain) continue;
    return opset.set_version(std::max(opset.version(), version));
  }
  ::onnx::OperatorSetIdProto& opset = *model_->add_opset_import();
  opset.set_domain(domain);
  opset.set_version(version);
}

std::string Graph::unique_name(const std::string& base) {
  return first_free(base.empty() ? "tensor" : base, taken_);
}

std::string Graph::name_of(TensorId tensor) {
  if (!tensor.valid()) return {};
  const auto known = names_.find(tensor.index);
  if (known != names_.end()) return known->second;
  std::string name = unique_name(network_[tensor].name);
  names_[tensor.index] = name;
  if (network_[tensor].constant) add_initializer(tensor, name);
  return name;
}

::onnx::NodeProto& Graph::add_node(const std::string& type, const std::string& name) {
  ::onnx::NodeProto& node = *graph().add_node();
  node.set_op_type(type);
  node.set_name(
      first_free(form_.numbered ? fmt::format("#{}#{}", layer_, name) : name, node_names_));
  return node;
}

std::size_t Graph::node_count() const {
  return static_cast<std::size_t>(model_->graph().node_size());
}

std::string Graph::add_constant(const Array& value, const std::string& base) {
  const std::string name = unique_name(base);
  ::onnx::TensorProto& proto = *graph().add_initializer();
  proto.set_name(name);
  set_type(proto, value.type, value.shape);
  if (form_.values) set_values(proto, value);
  return name;
}

void Graph::add_initializer(TensorId id, const std::string& name) {
  const Tensor& tensor = network_[id];
  if (tensor.quantized && tensor.quantized->scale.type == tensor.type)
    return add_quantized(tensor, name);
  ::onnx::TensorProto& proto = *graph().add_initializer();
  proto.set_name(name);
  set_type(proto, tensor.type, tensor.shape);
  if (form_.weights_inside || tensor.size() <= largest_inside) {
    if (form_.values) set_values(proto, *tensor.constant);
    return;
  }
  set_external(proto, {form_.weights_file, weights_size_, tensor.size()});
  weights_.push_back({name, id, weights_size_});
  weights_size_ = after_weight(weights_size_, tensor.size());
}

/// The integers and the node that makes real numbers of them.
void Graph::add_quantized(const Tensor& tensor, const std::string& name) {
  const Quantized& quantized = *tensor.quantized;
  const std::string values = add_constant(quantized.values, name + "/quantized");
  const std::string scale = add_constant(quantized.scale, name + "/scale");
  std::string zero;
  if (quantized.zero_point) zero = add_constant(*quantized.zero_point, name + "/zero_point");
  ::onnx::NodeProto& node = add_node("DequantizeLinear", name + "/dequantize");
  node.add_input(values);
  node.add_input(scale);
  if (!zero.empty()) node.add_input(zero);
  node.add_output(name);
  zoo::attribute(node, "axis", quantized.scaling.axis);
  if (quantized.scale.type != DataType::float32) need_opset(19);
  if (is_whole(quantized.values.type)) need_opset(21);
  if (quantized.scaling.block == 0) return;
  zoo::attribute(node, "block_size", quantized.scaling.block);
  need_opset(21);
}

void Graph::say_type(::onnx::ValueInfoProto& info, TensorId tensor, const std::string& name) const {
  info.set_name(name);
  auto& type = *info.mutable_type()->mutable_tensor_type();
  type.set_elem_type(onnx::number_of(network_[tensor].type));
  auto& shape = *type.mutable_shape();
  for (const std::int64_t size : network_[tensor].shape) shape.add_dim()->set_dim_value(size);
}

std::string Graph::add_input(TensorId tensor) {
  borders_.insert(tensor.index);
  std::string name = name_of(tensor);
  say_type(*graph().add_input(), tensor, name);
  return name;
}

std::string Graph::add_output(TensorId tensor) {
  std::string name = name_of(tensor);
  if (network_[tensor].constant || !borders_.insert(tensor.index).second) {
    ::onnx::NodeProto& copy = add_node("Identity", name + "/copy");
    copy.add_input(name);
    name = unique_name(name + "/copy");
    copy.add_output(name);
  }
  ::onnx::ValueInfoProto& output = *graph().add_output();
  output.set_name(name);
  if (!form_.outputs_unknown) say_type(output, tensor, name);
  return name;
}

void Graph::describe(TensorId tensor) {
  if (!borders_.contains(tensor.index))
    say_type(*graph().add_value_info(), tensor, name_of(tensor));
}

std::string Graph::serialized() {
  for (const auto& [key, value] : network_.metadata) {
    ::onnx::StringStringEntryProto& entry = *model_->add_metadata_props();
    entry.set_key(key);
    entry.set_value(value);
  }
  std::string bytes;
  if (model_->ByteSizeLong() > largest_model)
    throw InputError(network_.name,
                     "takes more than 2 GiB, which an ONNX file cannot hold; keep its weights "
                     "outside of the model");
  model_->SerializeToString(&bytes);
  return bytes;
}

}  // namespace millrace::formats::onnx_writer
