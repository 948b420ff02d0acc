// Values that are known when the model is read, and what does nothing in inference.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "formats/onnx/lower.h"
#include "formats/onnx/tensor_data.h"

namespace millrace::formats::onnx {
namespace {

template <class T>
Array list(DataType type, const std::vector<T>& values) {
  return make_array<T>(type, {std::ssize(values)}, std::span<const T>(values));
}

/// One element everywhere. What is there already is copied: a loop over single bytes takes seconds.
void repeat(std::span<const std::byte> element, std::span<std::byte> memory) {
  std::memcpy(memory.data(), element.data(), std::min(element.size(), memory.size()));
  for (std::size_t done = element.size(); done < memory.size(); done *= 2)
    std::memcpy(memory.data() + done, memory.data(), std::min(done, memory.size() - done));
}

/// An array of the shape with `pattern`, one element, everywhere.
Array filled(Node& node, const Shape& shape, const Array& pattern) {
  check_shape(pattern.type, shape, node.place());
  const Bytes size = size_of(pattern.type) * element_count(shape, node.place());
  take_memory(node, size);
  Buffer buffer(size);
  const std::span<const std::byte> element = pattern.bytes();
  const bool zero = std::all_of(element.begin(), element.end(),
                                [](std::byte byte) { return byte == std::byte{0}; });
  if (!zero && size.count > 0) repeat(element, buffer.bytes());
  return make_array(pattern.type, shape, std::move(buffer));
}

Array one(DataType type) {
  Buffer buffer(size_of(type));
  const float single = 1;
  const double wide = 1;
  if (type == DataType::float32) {
    std::memcpy(buffer.data(), &single, sizeof single);
  } else if (type == DataType::float64) {
    std::memcpy(buffer.data(), &wide, sizeof wide);
  } else if (type == DataType::float16) {
    buffer.data()[1] = std::byte{0x3c};
  } else {
    buffer.data()[0] = std::byte{1};
  }
  return make_array(type, {}, std::move(buffer));
}

/// Training with nothing to drop is inference.
bool drops_something(const Node& node) {
  if (node.opset() < 12 || !node.has(2)) return false;
  const auto is_zero = [&](std::size_t input, std::string_view what) {
    const std::vector<double> values = numbers(node, input, what);
    if (values.size() != 1)
      node.fail("the inputs 'ratio' and 'training_mode' must be one value each");
    return values[0] == 0;
  };
  return !is_zero(2, "the input 'training_mode'") &&
         !(node.has(1) && is_zero(1, "the input 'ratio'"));
}

}  // namespace

void lower_constant(Node& node) {
  const Attributes& attributes = node.attributes();
  if (attributes.has("sparse_value") || attributes.has("value_string") ||
      attributes.has("value_strings"))
    node.fail("its value is sparse or a string, which is not supported; expected the attribute "
              "'value', 'value_float', 'value_floats', 'value_int' or 'value_ints'");
  if (attributes.has("value_int")) {
    const std::vector<std::int64_t> value{attributes.integer("value_int", 0)};
    return node.give(0, node.add_constant(make_array<std::int64_t>(DataType::int64, {}, value)));
  }
  if (attributes.has("value_float")) {
    const std::vector<float> value{attributes.number("value_float", 0)};
    return node.give(0, node.add_constant(make_array<float>(DataType::float32, {}, value)));
  }
  if (const auto values = attributes.integers("value_ints"))
    return node.give(0, node.add_constant(list<std::int64_t>(DataType::int64, *values)));
  if (const auto values = attributes.numbers("value_floats"))
    return node.give(0, node.add_constant(list<float>(DataType::float32, *values)));
  Array value = node.attributes().tensor("value", node.reading().files);
  if (node.reading().names.is_inside())
    take_memory(node, value.memory->size());  // a loop repeats it
  node.give(0, node.add_constant(std::move(value)));
}

void lower_constant_of_shape(Node& node) {
  const Shape shape = integers(node, 0, "the shape");
  Array pattern = make_array(DataType::float32, {1}, Buffer(size_of(DataType::float32)));
  if (node.attributes().has("value"))
    pattern = node.attributes().tensor("value", node.reading().files);
  if (element_count(pattern.shape) != 1)
    node.fail(fmt::format("the attribute 'value' has shape {}, expected one element",
                          to_text(pattern.shape)));
  node.give(0, node.add_constant(filled(node, shape, pattern)));
}

void lower_shape(Node& node) {
  const Shape shape = node.shape(0);
  const std::int64_t rank = node.rank(0);
  const auto bound = [&](std::string_view name, std::int64_t fallback) {
    const std::int64_t value = node.attributes().integer(name, fallback);
    return std::clamp<std::int64_t>(value < 0 ? value + rank : value, 0, rank);
  };
  const std::int64_t start = bound("start", 0);
  const std::int64_t end = std::max(start, bound("end", rank));
  const std::vector<std::int64_t> values(shape.begin() + start, shape.begin() + end);
  node.give(0, node.add_constant(list<std::int64_t>(DataType::int64, values)));
}

void lower_identity(Node& node) { node.give(0, node.input(0)); }

void lower_dropout(Node& node) {
  if (drops_something(node))
    node.fail("the input 'training_mode' is true, but only inference is supported; export the "
              "model for inference");
  node.give(0, node.input(0));
  if (!node.wants(1)) return;
  const DataType type = node.opset() < 10 ? node.type(0) : DataType::boolean;
  const Shape shape = node.shape(0);
  node.give(1, node.add_constant(filled(node, shape, one(type))));
}

}  // namespace millrace::formats::onnx
