#include "formats/onnx_writer/layer_nodes.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <array>

#include "formats/onnx/types.h"
#include "formats/zoo/attributes.h"
#include "network/evaluate/evaluate.h"

namespace millrace::formats::onnx_writer {

const NodeToWrite& NodeToWrite::set(const char* name, std::int64_t value) const {
  zoo::attribute(*proto_, name, value);
  return *this;
}

const NodeToWrite& NodeToWrite::set(const char* name, float value) const {
  zoo::attribute(*proto_, name, value);
  return *this;
}

const NodeToWrite& NodeToWrite::set(const char* name, const char* text) const {
  zoo::attribute(*proto_, name, text);
  return *this;
}

const NodeToWrite& NodeToWrite::set(const char* name, const Shape& values) const {
  zoo::attribute(*proto_, name, values);
  return *this;
}

const NodeToWrite& NodeToWrite::set(const char* name, const std::vector<float>& values) const {
  auto& added = *proto_->add_attribute();
  added.set_name(name);
  added.set_type(::onnx::AttributeProto::FLOATS);
  for (const float value : values) added.add_floats(value);
  return *this;
}

const NodeToWrite& NodeToWrite::set(const char* name, const std::vector<std::string>& texts) const {
  auto& added = *proto_->add_attribute();
  added.set_name(name);
  added.set_type(::onnx::AttributeProto::STRINGS);
  for (const std::string& text : texts) added.add_strings(text);
  return *this;
}

std::string NodeToWrite::output() const { return proto_->output(0); }

LayerNodes::LayerNodes(Graph& graph, const Layer& layer) : graph_(graph), layer_(layer) {}

const Tensor& LayerNodes::output_tensor(std::size_t i) const {
  return graph_.network()[layer_.outputs[i]];
}

std::string LayerNodes::input(std::size_t i) {
  return has_input(i) ? graph_.name_of(layer_.inputs[i]) : std::string();
}

Names LayerNodes::inputs() {
  Names names;
  for (std::size_t i = 0; i < input_count(); ++i) names.push_back(input(i));
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

std::string LayerNodes::integers(const Shape& values) {
  const std::int64_t count = std::ssize(values);
  return constant(make_array<std::int64_t>(DataType::int64, {count}, values));
}

std::string LayerNodes::integer(std::int64_t value) {
  const std::array<std::int64_t, 1> values{value};
  return constant(make_array<std::int64_t>(DataType::int64, {}, values));
}

std::string LayerNodes::number(double value, DataType type) {
  const std::array<double, 1> values{value};
  const Array exact = make_array<double>(DataType::float64, {}, values);
  return constant(type == DataType::float64 ? exact : network::converted(exact, type));
}

std::string LayerNodes::cast(const std::string& x, DataType type) {
  return inner("Cast", {x}).set("to", std::int64_t{onnx::number_of(type)}).output();
}

std::string LayerNodes::reshaped(const std::string& x, const Shape& shape) {
  const bool has_zero = std::find(shape.begin(), shape.end(), 0) != shape.end();
  const NodeToWrite added = inner("Reshape", {x, integers(shape)});
  if (!has_zero) return added.output();
  need_opset(14);
  added.set("allowzero", std::int64_t{1});
  return added.output();
}

}  // namespace millrace::formats::onnx_writer
