#include <fmt/format.h>

#include <algorithm>

#include "formats/onnx/lower.h"
#include "formats/onnx/tensor_data.h"
#include "formats/onnx/window.h"

namespace millrace::formats::onnx {
namespace {

/// The list attribute, or zeros; nothing in it is negative or beyond any sensible size.
Shape list(const Node& node, std::string_view name, std::size_t count) {
  Shape values = node.attributes().integers(name).value_or(Shape(count, 0));
  bool fits = values.size() == count;
  for (const std::int64_t value : values) fits = fits && value >= 0 && value < (1 << 30);
  if (!fits)
    node.fail(fmt::format("the attribute '{}' is {}, expected {} sizes", name, to_text(values),
                          count));
  return values;
}

void check_weight(const Node& node, std::int64_t groups) {
  const Shape& shape = node.shape(0);
  const Tensor& weight = node.tensor(1);
  if (weight.shape.size() != shape.size() || weight.shape[0] != shape[1])
    node.fail(fmt::format("the weight '{}' has shape {}, expected {} dimensions and {} in the "
                          "first, like the input's channels",
                          weight.name, to_text(weight.shape), shape.size(), shape[1]));
  if (groups < 1 || groups > shape[1] || shape[1] % groups != 0)
    node.fail(fmt::format("the attribute 'group' is {}, which does not divide the input's {} "
                          "channels",
                          groups, shape[1]));
}

/// Sets the pads of dimension i so that they take `total` positions off, or add some at the end.
void pad_by(std::int64_t total, bool more_at_end, Window& window, std::size_t i) {
  const std::int64_t cut = std::max<std::int64_t>(total, 0);
  window.pads_begin[i] = more_at_end ? cut / 2 : cut - cut / 2;
  window.pads_end[i] = total - window.pads_begin[i];
}

Shape spread(const Node& node, const Shape& sizes, Window& window) {
  const std::string padding = automatic_padding(node);
  const bool more_at_end = padding == "SAME_UPPER";
  const Shape extra = list(node, "output_padding", sizes.size());
  const bool fixed = node.attributes().has("output_shape");
  const Shape wanted = list(node, "output_shape", sizes.size());
  Shape result;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::int64_t full =
        window.strides[i] * (sizes[i] - 1) + extra[i] + reach(window, i);
    if (fixed) {
      pad_by(full - wanted[i], more_at_end, window, i);
    } else if (padding == "SAME_UPPER" || padding == "SAME_LOWER") {
      pad_by(full - sizes[i] * window.strides[i], more_at_end, window, i);
    } else if (padding == "VALID") {
      window.pads_begin[i] = window.pads_end[i] = 0;
    }
    result.push_back(full - window.pads_begin[i] - window.pads_end[i]);
    if (result.back() < 1)
      node.fail(fmt::format("the padding leaves {} positions of the output", result.back()));
  }
  return result;
}

/// Where the windows lie in the image; how many there are in each dimension.
Shape windows_in(const Node& node, const Shape& image, Window& window) {
  Shape counts;
  for (std::size_t i = 0; i < image.size(); ++i) {
    const std::int64_t padded = image[i] + window.pads_begin[i] + window.pads_end[i];
    if (image[i] < 1 || padded < reach(window, i))
      node.fail(fmt::format("the image {} is smaller than a block", to_text(image)));
    counts.push_back((padded - reach(window, i)) / window.strides[i] + 1);
    window.pads_end[i] =
        (counts[i] - 1) * window.strides[i] + reach(window, i) - window.pads_begin[i] - image[i];
  }
  return counts;
}

/// Weights that put each value of a block in its own place.
TensorId places_of(Node& node, std::int64_t channels, const Shape& block) {
  const std::int64_t size = element_count(block, node.place());
  Shape shape{channels * size, 1};
  shape.insert(shape.end(), block.begin(), block.end());
  check_shape(DataType::float32, shape, node.place());
  take_memory(node, size_of(DataType::float32) * (channels * size * size));
  std::vector<float> weights(static_cast<std::size_t>(channels * size * size));
  for (std::int64_t i = 0; i < channels * size; ++i)
    weights[static_cast<std::size_t>(i * size + i % size)] = 1;
  const TensorId made = node.add_constant(make_array<float>(DataType::float32, shape, weights));
  if (node.type(0) == DataType::float32) return made;
  return node.add(Cast{}, {made}, {node.type(0), shape});
}

}  // namespace

/// The sum of overlapping blocks is a transposed convolution whose weights only place values.
void lower_col2im(Node& node) {
  const Shape columns = node.shape(0);
  const Shape image = integers(node, 1, "the size of the image");
  const Shape block = integers(node, 2, "the size of a block");
  if (image.empty() || image.size() > 3 || block.size() != image.size())
    node.fail(fmt::format("the image is {} and the block {}, expected 1 to 3 dimensions of both",
                          to_text(image), to_text(block)));
  for (const std::int64_t size : block)
    if (size < 1 || size > 1024) node.fail("the size of a block is not from 1 to 1024");
  const std::int64_t size = element_count(block, node.place());
  ConvTranspose conv;
  conv.window = read_window(node, image.size(), block);
  const Shape counts = windows_in(node, image, conv.window);
  if (columns.size() != 3 || columns[1] % size != 0 ||
      columns[2] != element_count(counts, node.place()) ||
      (node.type(0) != DataType::float32 && node.type(0) != DataType::float16))
    node.fail(fmt::format(
        "the blocks are {} {}, expected floating-point images x channels x {} of {} "
        "values",
        to_text(node.type(0)), to_text(columns), element_count(counts, node.place()), size));
  conv.groups = columns[1] / size;
  Made spread{node.type(0), {columns[0], columns[1]}};
  spread.shape.insert(spread.shape.end(), counts.begin(), counts.end());
  Made made{node.type(0), {columns[0], conv.groups}};
  made.shape.insert(made.shape.end(), image.begin(), image.end());
  const TensorId x = node.add(Reshape{}, {node.input(0)}, spread);
  const TensorId weights = places_of(node, conv.groups, block);
  node.give(0, node.add(std::move(conv), {x, weights}, made));
}

void lower_conv_transpose(Node& node) {
  need_same_types(node);
  const Shape shape = node.shape(0);
  const Shape sizes = spatial_sizes(node, shape);
  const Shape weight = node.shape(1);
  ConvTranspose conv;
  conv.groups = node.attributes().integer("group", 1);
  check_weight(node, conv.groups);
  conv.window = read_window(node, sizes.size(), Shape(weight.begin() + 2, weight.end()));
  for (const std::int64_t size : sizes)
    if (size < 1 || size > (1 << 30))
      node.fail(fmt::format("the input has the shape {}, expected sizes from 1", to_text(shape)));
  const Shape spatial = spread(node, sizes, conv.window);
  const std::int64_t channels = weight[1] * conv.groups;
  if (node.has(2) && node.shape(2) != Shape{channels})
    node.fail(fmt::format("the bias '{}' has shape {}, expected {}", node.tensor(2).name,
                          to_text(node.shape(2)), channels));
  Made made{node.type(0), {shape[0], channels}};
  made.shape.insert(made.shape.end(), spatial.begin(), spatial.end());
  node.give(0, node.add(std::move(conv), node.inputs(), made));
}

}  // namespace millrace::formats::onnx
