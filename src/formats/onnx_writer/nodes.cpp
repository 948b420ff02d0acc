#include "formats/onnx_writer/nodes.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cassert>
#include <cstring>
#include <unordered_map>

#include "formats/onnx/types.h"

namespace millrace::formats {
namespace {

Array array_of(const ::onnx::TensorProto& proto) {
  const std::string& raw = proto.raw_data();  // as the writer writes them
  Buffer memory = Buffer::uninitialized({static_cast<std::int64_t>(raw.size())});
  std::copy(raw.begin(), raw.end(), reinterpret_cast<char*>(memory.data()));
  return make_array(onnx::known_type(proto.data_type()).value(),
                    Shape(proto.dims().begin(), proto.dims().end()), std::move(memory));
}

template <class T>
void take_values(const Array& array, OnnxAttribute& attribute) {
  for (const T value : array.values<T>()) {
    attribute.integers.push_back(static_cast<std::int64_t>(value));
    attribute.reals.push_back(static_cast<float>(value));
  }
}

void take_array(const Array& array, OnnxAttribute& attribute) {
  if (array.type == DataType::float32) take_values<float>(array, attribute);
  if (array.type == DataType::int64) take_values<std::int64_t>(array, attribute);
  if (array.type == DataType::int32) take_values<std::int32_t>(array, attribute);
}

/// Nodes that are kept as they were in the file may have texts, and numbers in other forms.
bool is_plain(const ::onnx::TensorProto& proto) {
  if (!proto.has_raw_data() || !onnx::known_type(proto.data_type())) return false;
  double bytes = static_cast<double>(size_of(*onnx::known_type(proto.data_type())).count);
  for (const std::int64_t size : proto.dims()) bytes *= static_cast<double>(size);
  return bytes == static_cast<double>(proto.raw_data().size());
}

OnnxAttribute attribute_of(const ::onnx::AttributeProto& proto) {
  OnnxAttribute attribute{proto.name()};
  attribute.integers.assign(proto.ints().begin(), proto.ints().end());
  attribute.reals.assign(proto.floats().begin(), proto.floats().end());
  if (proto.has_i()) attribute.integers = {proto.i()};
  if (proto.has_f()) attribute.reals = {proto.f()};
  if (proto.has_s()) attribute.text = proto.s();
  if (proto.has_t() && is_plain(proto.t())) take_array(array_of(proto.t()), attribute);
  return attribute;
}

class NodesReader {
 public:
  NodesReader(const Network& network, const OnnxModel& model) : network_(network), model_(model) {
    [[maybe_unused]] const bool is_read = proto_.ParseFromString(model.bytes);
    assert(is_read);
  }

  OnnxNodes read() {
    for (const auto& input : proto_.graph().input()) take_type(input);
    for (const auto& value : proto_.graph().value_info()) take_type(value);
    for (const auto& output : proto_.graph().output()) take_type(output);
    take_constants();
    for (const auto& node : proto_.graph().node()) take_node(node);
    for (const std::string& name : model_.inputs) result_.inputs.push_back(value_called(name));
    for (const std::string& name : model_.outputs) result_.outputs.push_back(value_called(name));
    return std::move(result_);
  }

 private:
  std::size_t value_called(const std::string& name) {
    const auto [at, is_new] = places_.try_emplace(name, result_.values.size());
    if (is_new) result_.values.push_back({name, {}, {}});
    return at->second;
  }

  void take_type(const ::onnx::ValueInfoProto& info) {
    OnnxValue& value = result_.values[value_called(info.name())];
    if (!info.has_type()) return;
    const auto& type = info.type().tensor_type();
    value.type = onnx::known_type(type.elem_type());
    value.shape.emplace();
    for (const auto& size : type.shape().dim()) value.shape->push_back(size.dim_value());
  }

  void take_constants() {
    std::unordered_map<std::string, TensorId> outside;
    for (const OnnxModel::Weight& weight : model_.weights) outside[weight.name] = weight.tensor;
    for (const auto& proto : proto_.graph().initializer()) {
      OnnxValue& value = result_.values[value_called(proto.name())];
      const auto at = outside.find(proto.name());
      value.constant = at == outside.end() ? array_of(proto) : network_[at->second].constant;
      value.type = value.constant->type;
      value.shape = value.constant->shape;
    }
  }

  void take_node(const ::onnx::NodeProto& proto) {
    const std::size_t number = result_.nodes.size();
    const auto end = std::ranges::upper_bound(model_.node_ends, number);
    const auto layers = static_cast<std::size_t>(end - model_.node_ends.begin());
    // Copies of outputs come after all layers.
    const std::size_t last = std::max<std::size_t>(model_.node_ends.size(), 1) - 1;
    OnnxNode& node = result_.nodes.emplace_back();
    const bool is_own = proto.domain().empty() || proto.domain() == "ai.onnx";
    node.op = is_own ? proto.op_type() : proto.domain() + "." + proto.op_type();
    node.name = proto.name();
    node.layer = std::min(layers, last);
    const auto place = [&](const std::string& name) {
      return name.empty() ? std::optional<std::size_t>() : value_called(name);
    };
    for (const std::string& name : proto.input()) node.inputs.push_back(place(name));
    for (const std::string& name : proto.output()) node.outputs.push_back(place(name));
    for (const auto& attribute : proto.attribute())
      node.attributes.push_back(attribute_of(attribute));
  }

  const Network& network_;
  const OnnxModel& model_;
  ::onnx::ModelProto proto_;
  OnnxNodes result_;
  std::unordered_map<std::string, std::size_t> places_;  // of values, by name
};

}  // namespace

OnnxNodes nodes_of(const Network& network, const OnnxModel& model) {
  return NodesReader(network, model).read();
}

}  // namespace millrace::formats
