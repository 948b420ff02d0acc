#include "engine/openvino/library/model.h"

#include <fmt/format.h>

#include <charconv>

#include "formats/onnx_writer/write_onnx.h"

namespace millrace::engine::openvino {
namespace {

/// Around memory that OpenVINO only reads.
ov::Tensor tensor_around(const network::Array& array) {
  ov::Shape shape(array.shape.begin(), array.shape.end());
  auto* const data = const_cast<std::byte*>(array.memory->data());
  return {element_type(array.type), shape, static_cast<void*>(data)};
}

void put_weights_in(ov::Model& model, const Part& part) {
  const ov::ParameterVector parameters = model.get_parameters();
  const std::size_t first = parameters.size() - part.weights.size();
  for (std::size_t i = 0; i < part.weights.size(); ++i) {
    const auto& parameter = parameters[first + i];
    const auto constant = std::make_shared<ov::op::v0::Constant>(tensor_around(part.weights[i]));
    constant->set_friendly_name(parameter->get_friendly_name());
    parameter->output(0).replace(constant->output(0));
    model.remove_parameter(parameter);
  }
}

std::vector<const ov::Node*> readers_of(const ov::Node& node) {
  std::vector<const ov::Node*> readers;
  for (const auto& output : node.outputs())
    for (const auto& input : output.get_target_inputs()) readers.push_back(input.get_node());
  return readers;
}

/// What a layer consists of leads to the operation that has the layer's name.
void name_after_layers(const ov::Model& model) {
  const ov::NodeVector ordered = model.get_ordered_ops();
  std::size_t count = 0;
  for (auto node = ordered.rbegin(); node != ordered.rend(); ++node) {
    std::optional<std::size_t> layer = layer_of((*node)->get_friendly_name());
    for (const ov::Node* reader : readers_of(**node))
      if (!layer) layer = layer_of(reader->get_friendly_name());
    if (layer) (*node)->set_friendly_name(fmt::format("L{}/{}", *layer, count++));
  }
}

}  // namespace

ov::element::Type element_type(network::DataType type) {
  using network::DataType;
  switch (type) {
    case DataType::float32:
      return ov::element::f32;
    case DataType::float64:
      return ov::element::f64;
    case DataType::float16:
      return ov::element::f16;
    case DataType::int8:
      return ov::element::i8;
    case DataType::uint8:
      return ov::element::u8;
    case DataType::int16:
      return ov::element::i16;
    case DataType::uint16:
      return ov::element::u16;
    case DataType::int32:
      return ov::element::i32;
    case DataType::uint32:
      return ov::element::u32;
    case DataType::int64:
      return ov::element::i64;
    case DataType::uint64:
      return ov::element::u64;
    case DataType::boolean:
      return ov::element::boolean;
  }
  return ov::element::dynamic;
}

ov::Shape shape_of(const network::Tensor& tensor) {
  return {tensor.shape.begin(), tensor.shape.end()};
}

std::string written(const Part& part) { return formats::write_onnx(part.network).bytes; }

std::shared_ptr<ov::Model> read(ov::Core& core, const Part& part, const std::string& bytes) {
  std::shared_ptr<ov::Model> model = core.read_model(bytes, ov::Tensor());
  put_weights_in(*model, part);
  model->validate_nodes_and_infer_types();
  name_after_layers(*model);
  return model;
}

std::optional<std::size_t> layer_of(const std::string& name) {
  if (!name.starts_with('L')) return std::nullopt;
  std::size_t layer = 0;
  const char* const end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data() + 1, end, layer);
  if (error != std::errc{} || (stop != end && *stop != '/')) return std::nullopt;
  return layer;
}

}  // namespace millrace::engine::openvino
