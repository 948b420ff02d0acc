#include "formats/onnx/node/node.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <onnx/onnx_pb.h>

#include "base/error.h"
#include "network/evaluate/evaluate.h"

namespace millrace::formats::onnx {
namespace {

template <class To, class From>
std::vector<To> copy(const Array& array) {
  const std::span<const From> values = array.values<From>();
  std::vector<To> result;
  for (const From value : values) result.push_back(static_cast<To>(value));
  return result;
}

const Tensor& known(const Node& node, std::size_t index, std::string_view what) {
  const Tensor& value = node.tensor(index);
  if (!value.constant)
    node.fail(fmt::format("{} ('{}') {}; it must be known when the model is read{}", what,
                          value.name, computed_from(node, node.input(index)),
                          or_fix(node, node.input(index))));
  return value;
}

}  // namespace

Node::Node(Reading& reading, const ::onnx::NodeProto& proto, std::string name, const Names& needed)
    : reading_(&reading),
      proto_(&proto),
      needed_(&needed),
      name_(std::move(name)),
      place_(fmt::format("{}: node '{}' ({})", reading.source.file, name_, proto.op_type())),
      attributes_(proto, place_) {
  for (const std::string& input : proto.input()) {
    const std::optional<TensorId> id = reading.names.find(input);
    if (!id && !input.empty() && !reading.names.knows(input))
      fail(fmt::format("the input '{}' is not known", input));
    if (id && reading.of_varying_length.contains(*id) && reading.purpose != Purpose::largest_sizes)
      fail(
          fmt::format("how long its input '{}' is changes from frame to frame, and sizes must be "
                      "known when the model is read; export the model without built-in "
                      "suppression, or end it at '{}'",
                      input, input));
    if (id && reading.of_four_bits.contains(*id) && proto.op_type() != "DequantizeLinear")
      fail(
          fmt::format("its input '{}' has integers of 4 bits, which only DequantizeLinear can "
                      "read; quantise to 8 bits",
                      input));
    inputs_.push_back(id.value_or(TensorId()));
  }
  while (!inputs_.empty() && !inputs_.back().valid()) inputs_.pop_back();
}

Node::Node(const Node& node, Reading& copy) : Node(node) { reading_ = &copy; }

void Node::fail(const std::string& text) const { throw InputError(place_, text); }

TensorId Node::input(std::size_t index) const {
  if (!has(index)) fail(fmt::format("input {} is missing", index));
  return inputs_[index];
}

std::vector<TensorId> Node::inputs() const {
  for (std::size_t i = 0; i < inputs_.size(); ++i) input(i);
  return inputs_;
}

const Tensor& Node::tensor(std::size_t index) const { return tensor(input(index)); }

std::int64_t Node::rank(std::size_t index) const {
  return static_cast<std::int64_t>(shape(index).size());
}

std::string Node::output(std::size_t index) const {
  return index < output_count() ? proto_->output(static_cast<int>(index)) : "";
}

bool Node::wants(std::size_t index) const {
  const std::string name = output(index);
  return !name.empty() && needed_->contains(name);
}

std::size_t Node::output_count() const { return static_cast<std::size_t>(proto_->output_size()); }

TensorId Node::add(Operator op, std::vector<TensorId> inputs, Made made) {
  return add(std::move(op), std::move(inputs), std::vector{std::optional(std::move(made))})[0];
}

std::vector<TensorId> Node::add(Operator op, std::vector<TensorId> inputs,
                                const std::vector<std::optional<Made>>& made) {
  PartialNetwork& network = reading_->network;
  const std::size_t before = network.layer_count();
  const std::vector<TensorId> outputs =
      network.add_layer({name_, std::move(op), std::move(inputs), {}}, made, place_);
  if (reading_->names.is_inside()) reading_->inside.count_layers(network.layer_count() - before);
  return outputs;
}

void Node::give(std::size_t index, const Known& value) {
  if (wants(index)) reading_->define(output(index), value);
}

void Node::give(std::size_t index, TensorId id) {
  if (wants(index)) reading_->define(output(index), id);
}

void need_same_types(const Node& node) {
  const DataType* first = nullptr;
  for (std::size_t i = 0; i < node.optional_inputs().size(); ++i) {
    if (!node.has(i)) continue;
    if (first != nullptr && node.type(i) != *first)
      node.fail(fmt::format("the input '{}' has type {}, expected {} like the first input",
                            node.tensor(i).name, to_text(node.type(i)), to_text(*first)));
    if (first == nullptr) first = &node.tensor(i).type;
  }
}

std::int64_t normalized(const Node& node, std::int64_t axis, std::int64_t rank) {
  if (axis < -rank || axis >= rank)
    node.fail(fmt::format("the axis {} does not exist; the tensor has {} dimensions", axis, rank));
  return axis < 0 ? axis + rank : axis;
}

void take_memory(const Node& node, Bytes size) {
  node.reading().network.take_memory(size, node.place());
}

bool is_known(const Node& node, std::size_t input) {
  return node.has(input) && node.tensor(input).constant;
}

Shape integers(const Node& node, std::size_t index, std::string_view what) {
  const Tensor& value = known(node, index, what);
  if (value.type == DataType::int64) return copy<std::int64_t, std::int64_t>(*value.constant);
  if (value.type == DataType::int32) return copy<std::int64_t, std::int32_t>(*value.constant);
  node.fail(
      fmt::format("{} ('{}') has type {}, expected int64", what, value.name, to_text(value.type)));
}

std::int64_t integer(const Node& node, std::size_t index, std::string_view what) {
  const Shape values = integers(node, index, what);
  if (values.size() != 1) node.fail(fmt::format("{} is not one number", what));
  return values[0];
}

std::vector<double> numbers(const Node& node, std::size_t index, std::string_view what) {
  const Tensor& value = known(node, index, what);
  switch (value.type) {
    case DataType::float32:
      return copy<double, float>(*value.constant);
    case DataType::float64:
      return copy<double, double>(*value.constant);
    case DataType::float16:
      return copy<double, float>(network::converted(*value.constant, DataType::float32));
    case DataType::int64:
      return copy<double, std::int64_t>(*value.constant);
    case DataType::int32:
      return copy<double, std::int32_t>(*value.constant);
    case DataType::int8:
      return copy<double, std::int8_t>(*value.constant);
    case DataType::uint8:
      return copy<double, std::uint8_t>(*value.constant);
    case DataType::boolean:
      return copy<double, std::uint8_t>(*value.constant);
    default:
      break;
  }
  node.fail(fmt::format("{} ('{}') has type {}, expected float32", what, value.name,
                        to_text(value.type)));
}

std::optional<Shape> integers(const Node& node, std::string_view attribute, std::size_t index,
                              std::int64_t since) {
  if (node.opset() < since) return node.attributes().integers(attribute);
  if (node.attributes().has(attribute))
    node.fail(
        fmt::format("'{}' is an attribute, but an input since opset {}, and the model is of "
                    "opset {}",
                    attribute, since, node.opset()));
  if (!node.has(index)) return std::nullopt;
  return integers(node, index, fmt::format("the input '{}'", attribute));
}

std::string computed_from(const Node& node, TensorId id) {
  const std::vector<std::string> inputs = node.reading().network.inputs_behind(id);
  if (inputs.empty()) return "cannot be computed when the model is read";
  return fmt::format("is computed from the network's input{} '{}'", inputs.size() == 1 ? "" : "s",
                     fmt::join(inputs, "', '"));
}

std::string or_fix(const Node& node, TensorId id) {
  const std::vector<std::string> inputs = node.reading().network.inputs_behind(id);
  return inputs.empty()
             ? ""
             : fmt::format(", or give the input its value with ⟨fix⟩ {}=VALUE", inputs.front());
}

}  // namespace millrace::formats::onnx
