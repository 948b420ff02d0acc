#include "formats/onnx/quantized.h"

#include <fmt/format.h>

#include <algorithm>

namespace millrace::formats::onnx {
namespace {

void check_byte(const Node& node, std::size_t input) {
  if (node.type(input) != DataType::int8 && node.type(input) != DataType::uint8)
    node.fail(fmt::format("the input '{}' has type {}, expected int8 or uint8",
                          node.tensor(input).name, to_text(node.type(input))));
}

void check_factor(const Node& node, const Factor& factor) {
  check_byte(node, factor.values);
  if (node.has(factor.zero) && node.type(factor.zero) != node.type(factor.values))
    node.fail(fmt::format("the zero point '{}' has type {}, expected {} like '{}'",
                          node.tensor(factor.zero).name, to_text(node.type(factor.zero)),
                          to_text(node.type(factor.values)), node.tensor(factor.values).name));
}

}  // namespace

bool is_small_integer(DataType type) {
  return type == DataType::int8 || type == DataType::uint8 || type == DataType::int16 ||
         type == DataType::uint16;
}

void check_factors(const Node& node, const Factor& a, const Factor& b) {
  check_factor(node, a);
  check_factor(node, b);
}

void check_quantized(const Node& node) {
  check_factors(node, {.values = 0, .zero = 2}, {.values = 3, .zero = 5});
  check_byte(node, 7);
  for (const std::size_t scale : {1, 4, 6})
    if (node.type(scale) != DataType::float32)
      node.fail(fmt::format("the scale '{}' has type {}, expected float32", node.tensor(scale).name,
                            to_text(node.type(scale))));
}

void check_single(const Node& node, std::size_t input) { check_single_or(node, input, {}); }

void check_single_or(const Node& node, std::size_t input, const std::vector<Shape>& shapes) {
  if (!node.has(input) || element_count(node.shape(input)) == 1) return;
  if (std::find(shapes.begin(), shapes.end(), node.shape(input)) != shapes.end()) return;
  std::string others;
  for (const Shape& shape : shapes) others += fmt::format(" or the shape {}", to_text(shape));
  node.fail(fmt::format("the input '{}' has shape {}, expected one value{}",
                        node.tensor(input).name, to_text(node.shape(input)), others));
}

}  // namespace millrace::formats::onnx
