#include "formats/onnx_writer/layer_nodes.h"

#include <algorithm>
#include <array>

#include "formats/onnx/types.h"
#include "network/evaluate/evaluate.h"

namespace millrace::formats::onnx_writer {

LayerNodes::LayerNodes(Graph& graph, const Layer& layer) : graph_(graph), layer_(layer) {}

const Tensor& LayerNodes::output_tensor(std::size_t i) const {
  return graph_.network()[layer_.outputs[i]];
}

std::string LayerNodes::input(std::size_t i) {
  return has_input(i) ? graph_.name_of(layer_.inputs[i]) : std::string();
}

Names LayerNodes::inputs() {
  Names names;
  for (std::size_t i = 0; i < layer_.inputs.size(); ++i) names.push_back(input(i));
  return names;
}

std::string LayerNodes::output(std::size_t i) {
  return has_output(i) ? graph_.name_of(layer_.outputs[i]) : std::string();
}

Names LayerNodes::outputs() {
  Names names;
  for (std::size_t i = 0; i < output_count(); ++i) names.push_back(output(i));
  return names;
}

Names LayerNodes::all_outputs() {
  Names names = outputs();
  for (std::string& name : names)
    if (name.empty()) name = graph_.unique_name(layer_.name + "/unused");
  return names;
}

NodeToWrite LayerNodes::node(const std::string& type, const Names& inputs, const Names& outputs) {
  const auto append = [](Names names, auto add) {
    while (!names.empty() && names.back().empty()) names.pop_back();
    for (const std::string& name : names) add(name);
  };
  const std::string name = nodes_++ == 0 ? layer_.name : layer_.name + "/" + type;
  ::onnx::NodeProto& added = graph_.add_node(type, name);
  append(inputs, [&](const std::string& input) { added.add_input(input); });
  append(outputs, [&](const std::string& output) { added.add_output(output); });
  return NodeToWrite(added);
}

NodeToWrite LayerNodes::inner(const std::string& type, const Names& inputs) {
  return node(type, inputs, {graph_.unique_name(layer_.name + "/" + type)});
}

std::string LayerNodes::constant(const Array& value) {
  return graph_.add_constant(value, layer_.name + "/constant");
}

std::string integers(LayerNodes& layer, const Shape& values) {
  const std::int64_t count = std::ssize(values);
  return layer.constant(make_array<std::int64_t>(DataType::int64, {count}, values));
}

std::string integer(LayerNodes& layer, std::int64_t value) {
  const std::array<std::int64_t, 1> values{value};
  return layer.constant(make_array<std::int64_t>(DataType::int64, {}, values));
}

std::string number(LayerNodes& layer, double value) { return number(layer, value, layer.type()); }

std::string number(LayerNodes& layer, double value, DataType type) {
  const std::array<double, 1> values{value};
  const Array exact = make_array<double>(DataType::float64, {}, values);
  return layer.constant(type == DataType::float64 ? exact : network::converted(exact, type));
}

std::string cast(LayerNodes& layer, const std::string& x, DataType type) {
  return layer.inner("Cast", {x}).set("to", std::int64_t{onnx::number_of(type)}).output();
}

std::string input_as(LayerNodes& layer, DataType type, std::size_t i) {
  return layer.input_tensor(i).type == type ? layer.input(i) : cast(layer, layer.input(i), type);
}

std::string reshaped(LayerNodes& layer, const std::string& x, const Shape& shape) {
  const bool has_zero = std::find(shape.begin(), shape.end(), 0) != shape.end();
  const NodeToWrite added = layer.inner("Reshape", {x, integers(layer, shape)});
  if (!has_zero) return added.output();
  layer.need_opset(14);
  added.set("allowzero", std::int64_t{1});
  return added.output();
}

}  // namespace millrace::formats::onnx_writer
