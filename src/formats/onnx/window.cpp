#include "formats/onnx/window.h"

#include <fmt/format.h>

#include <algorithm>

namespace millrace::formats::onnx {
namespace {

constexpr std::int64_t most = std::int64_t{1} << 30;  // products of two stay far from overflow

/// A list attribute with one entry per spatial dimension, or `fallback` in each.
Shape per_dimension(const Node& node, std::string_view name, std::size_t count,
                    std::int64_t fallback) {
  Shape values = node.attributes().integers(name).value_or(Shape(count, fallback));
  if (values.size() != count)
    node.fail(fmt::format("the attribute '{}' has {} entries, expected {}", name, values.size(),
                          count));
  for (const std::int64_t value : values)
    if (value < fallback || value > most)
      node.fail(fmt::format("the attribute '{}' contains {}, expected {} to {}", name, value,
                            fallback, most));
  return values;
}

Shape read_kernel(const Node& node, std::size_t dimensions, const Shape& weight_kernel) {
  if (weight_kernel.empty() && !node.attributes().has("kernel_shape"))
    node.fail("the attribute 'kernel_shape' is missing");
  if (!node.attributes().has("kernel_shape")) return weight_kernel;
  Shape kernel = per_dimension(node, "kernel_shape", dimensions, 1);
  if (!weight_kernel.empty() && kernel != weight_kernel)
    node.fail(fmt::format("the attribute 'kernel_shape' is {}, but the weights have the kernel {}",
                          to_text(kernel), to_text(weight_kernel)));
  return kernel;
}

/// So that numbers of elements stay far from overflow.
void check_elements(const Node& node, const Shape& kernel) {
  constexpr double largest = 2147483647;
  double elements = 1;
  for (const std::int64_t size : kernel) elements *= static_cast<double>(size);
  if (elements > largest)
    node.fail(fmt::format("the window {} has more than {:.0f} elements", to_text(kernel), largest));
}

/// Padding that makes the output ceil(size / stride) long.
void pad_to_same(const Shape& sizes, bool more_at_end, Window& window) {
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::int64_t stride = window.strides[i];
    const std::int64_t count = (sizes[i] + stride - 1) / stride;
    const std::int64_t total =
        std::max<std::int64_t>(0, (count - 1) * stride + reach(window, i) - sizes[i]);
    window.pads_begin[i] = more_at_end ? total / 2 : total - total / 2;
    window.pads_end[i] = total - window.pads_begin[i];
  }
}

}  // namespace

Shape spatial_sizes(const Node& node, const Shape& shape) {
  if (shape.size() < 3 || shape.size() > 5)
    node.fail(fmt::format("the input has the shape {}, expected batch, channels and 1 to 3 spatial "
                          "dimensions",
                          to_text(shape)));
  return {shape.begin() + 2, shape.end()};
}

Window read_window(const Node& node, std::size_t dimensions, const Shape& weight_kernel) {
  Window window;
  window.kernel = read_kernel(node, dimensions, weight_kernel);
  check_elements(node, window.kernel);
  window.strides = per_dimension(node, "strides", dimensions, 1);
  window.dilations = per_dimension(node, "dilations", dimensions, 1);
  const bool is_automatic = automatic_padding(node) != "NOTSET";  // whatever 'pads' says
  const Shape pads =
      is_automatic ? Shape(2 * dimensions, 0) : per_dimension(node, "pads", 2 * dimensions, 0);
  const auto middle = pads.begin() + static_cast<std::ptrdiff_t>(dimensions);
  window.pads_begin.assign(pads.begin(), middle);
  window.pads_end.assign(middle, pads.end());
  return window;
}

std::string automatic_padding(const Node& node) {
  std::string kind = node.attributes().text("auto_pad", "NOTSET");
  if (kind != "NOTSET" && kind != "SAME_UPPER" && kind != "SAME_LOWER" && kind != "VALID")
    node.fail(fmt::format("the attribute 'auto_pad' is '{}', expected NOTSET, SAME_UPPER, "
                          "SAME_LOWER or VALID",
                          kind));
  return kind;
}

std::int64_t reach(const Window& window, std::size_t i) {
  return window.dilations[i] * (window.kernel[i] - 1) + 1;
}

Shape slide(const Node& node, const Shape& sizes, bool round_up, Window& window) {
  const std::string padding = automatic_padding(node);
  if (padding == "SAME_UPPER" || padding == "SAME_LOWER")
    pad_to_same(sizes, padding == "SAME_UPPER", window);
  if (padding == "VALID") window.pads_begin = window.pads_end = Shape(sizes.size(), 0);
  Shape result;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::int64_t stride = window.strides[i];
    const std::int64_t padded = sizes[i] + window.pads_begin[i] + window.pads_end[i];
    const std::int64_t room = padded - reach(window, i);
    // Rounded up, one position is left, where the window takes all that there is.
    if (round_up && sizes[i] > 0 && room < 0 && room + stride > 0) {
      window.kernel[i] = (padded - 1) / window.dilations[i] + 1;
      result.push_back(1);
      continue;
    }
    if (room < 0)
      node.fail(fmt::format("the window reaches over {} positions, more than the padded input's {}",
                            reach(window, i), padded));
    std::int64_t count = (room + (round_up ? stride - 1 : 0)) / stride + 1;
    if (round_up && (count - 1) * stride >= sizes[i] + window.pads_begin[i]) --count;
    result.push_back(count);
  }
  return result;
}

}  // namespace millrace::formats::onnx
