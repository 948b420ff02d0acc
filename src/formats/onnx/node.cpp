#include "formats/onnx/node.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <onnx/onnx_pb.h>

#include "base/error.h"
#include "formats/onnx/tensor_data.h"
#include "formats/onnx/types.h"
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

}  // namespace

Node::Node(Reading& reading, const ::onnx::NodeProto& proto, std::string name, const Names& needed)
    : reading_(&reading), proto_(&proto), needed_(&needed), name_(std::move(name)),
      place_(fmt::format("{}: node '{}' ({})", reading.source().file, name_, proto.op_type())),
      attributes_(proto, place_) {
  for (const std::string& input : proto.input()) {
    const std::optional<TensorId> id = reading.find(input);
    if (!id && !input.empty() && !reading.knows(input))
      fail(fmt::format("the input '{}' is not known", input));
    if (id && reading.has_varying_length(*id) && !reading.takes_largest_sizes())
      fail(
          fmt::format("how long its input '{}' is changes from frame to frame, and sizes must be "
                      "known when the model is read; export the model without built-in "
                      "suppression, or end it at '{}'",
                      input, input));
    if (id && reading.has_four_bits(*id) && proto.op_type() != "DequantizeLinear")
      fail(
          fmt::format("its input '{}' has integers of 4 bits, which only DequantizeLinear can "
                      "read; quantise to 8 bits",
                      input));
    inputs_.push_back(id.value_or(TensorId()));
  }
  while (!inputs_.empty() && !inputs_.back().valid()) inputs_.pop_back();
}

Node Node::in(Reading& copy) const {
  Node node = *this;
  node.reading_ = &copy;
  return node;
}

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

Shape Node::integers(std::size_t index, std::string_view what) const {
  const Tensor& value = tensor(index);
  if (!value.constant)
    fail(fmt::format("{} ('{}') {}; it must be known when the model is read{}", what, value.name,
                     computed_from(input(index)), or_fix(input(index))));
  if (value.type == DataType::int64) return copy<std::int64_t, std::int64_t>(*value.constant);
  if (value.type == DataType::int32) return copy<std::int64_t, std::int32_t>(*value.constant);
  fail(fmt::format("{} ('{}') has type {}, expected int64", what, value.name,
                   to_text(value.type)));
}

std::int64_t Node::integer(std::size_t index, std::string_view what) const {
  const Shape values = integers(index, what);
  if (values.size() != 1) fail(fmt::format("{} is not one number", what));
  return values[0];
}

std::vector<double> Node::numbers(std::size_t index, std::string_view what) const {
  const Tensor& value = tensor(index);
  if (!value.constant)
    fail(fmt::format("{} ('{}') {}; it must be known when the model is read{}", what, value.name,
                     computed_from(input(index)), or_fix(input(index))));
  switch (value.type) {
    case DataType::float32: return copy<double, float>(*value.constant);
    case DataType::float64: return copy<double, double>(*value.constant);
    case DataType::float16:
      return copy<double, float>(network::converted(*value.constant, DataType::float32));
    case DataType::int64: return copy<double, std::int64_t>(*value.constant);
    case DataType::int32: return copy<double, std::int32_t>(*value.constant);
    case DataType::int8: return copy<double, std::int8_t>(*value.constant);
    case DataType::uint8: return copy<double, std::uint8_t>(*value.constant);
    case DataType::boolean: return copy<double, std::uint8_t>(*value.constant);
    default: break;
  }
  fail(fmt::format("{} ('{}') has type {}, expected float32", what, value.name,
                   to_text(value.type)));
}

std::optional<Shape> Node::integers(std::string_view attribute, std::size_t index,
                                    std::int64_t since) const {
  if (opset() < since) return attributes_.integers(attribute);
  if (attributes_.has(attribute))
    fail(fmt::format("'{}' is an attribute, but an input since opset {}, and the model is of "
                     "opset {}",
                     attribute, since, opset()));
  if (!has(index)) return std::nullopt;
  return integers(index, fmt::format("the input '{}'", attribute));
}

std::string Node::computed_from(TensorId id) const {
  const std::vector<std::string> inputs = reading_->inputs_behind(id);
  if (inputs.empty()) return "cannot be computed when the model is read";
  return fmt::format("is computed from the network's input{} '{}'", inputs.size() == 1 ? "" : "s",
                     fmt::join(inputs, "', '"));
}

std::string Node::or_fix(TensorId id) const {
  const std::vector<std::string> inputs = reading_->inputs_behind(id);
  return inputs.empty() ? "" : fmt::format(", or give the input its value with ⟨fix⟩ {}=VALUE",
                                           inputs.front());
}

void Node::need_same_types() const {
  const DataType* first = nullptr;
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    if (!has(i)) continue;
    if (first != nullptr && type(i) != *first)
      fail(fmt::format("the input '{}' has type {}, expected {} like the first input",
                       tensor(i).name, to_text(type(i)), to_text(*first)));
    if (first == nullptr) first = &tensor(i).type;
  }
}

std::int64_t Node::normalized(std::int64_t axis, std::int64_t rank) const {
  if (axis < -rank || axis >= rank)
    fail(fmt::format("the axis {} does not exist; the tensor has {} dimensions", axis, rank));
  return axis < 0 ? axis + rank : axis;
}

bool Node::names(std::size_t output) const {
  return output < output_count() && !proto_->output(static_cast<int>(output)).empty();
}

bool Node::wants(std::size_t output) const {
  return names(output) && needed_->contains(proto_->output(static_cast<int>(output)));
}

std::size_t Node::output_count() const { return static_cast<std::size_t>(proto_->output_size()); }

const Shape* Node::declared_shape(std::size_t output) const {
  return wants(output) ? reading_->declared(proto_->output(static_cast<int>(output))) : nullptr;
}

TensorId Node::add(Operator op, std::vector<TensorId> inputs, Made made) {
  return add(std::move(op), std::move(inputs), std::vector{std::optional(std::move(made))})[0];
}

std::vector<TensorId> Node::add(Operator op, std::vector<TensorId> inputs,
                                const std::vector<std::optional<Made>>& made) {
  return reading_->add_layer({name_, std::move(op), std::move(inputs), {}}, made, place_);
}

Array Node::tensor_attribute(std::string_view name) const {
  return attributes_.tensor(name, reading_->external_files());
}

DataType Node::type_attribute(std::string_view name) const {
  const std::int64_t code = attributes_.required_integer(name);
  const bool plausible = code >= 0 && code < 1000;
  const std::optional<DataType> type =
      plausible ? known_type(static_cast<int>(code)) : std::nullopt;
  if (!type)
    fail(fmt::format("the attribute '{}' asks for {}; {}", name,
                     plausible ? type_name(static_cast<int>(code)) : "an unknown type",
                     supported_types()));
  return *type;
}

const ::onnx::GraphProto& Node::graph_attribute(std::string_view name) const {
  return attributes_.graph(name);
}

void Node::give(std::size_t output, const Known& value) {
  if (wants(output)) reading_->define(proto_->output(static_cast<int>(output)), value);
}

void Node::give(std::size_t output, TensorId id) {
  if (wants(output)) reading_->define(proto_->output(static_cast<int>(output)), id);
}

}  // namespace millrace::formats::onnx
