// The same elements in another shape or order.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "formats/onnx/lower.h"
#include "formats/onnx/tensor_data.h"

namespace millrace::formats::onnx {
namespace {

/// Nothing happens where the shape stays.
void reshape(Node& node, Shape shape) {
  if (shape == node.shape(0)) return node.give(0, node.input(0));
  const Made made{node.type(0), std::move(shape)};
  node.give(0, node.add(Reshape{}, {node.input(0)}, made));
}

/// Fills in the zeros (the input's size) and the one -1 (what is left).
Shape resolve(const Node& node, Shape wanted) {
  const Shape& shape = node.shape(0);
  const bool zero_is_zero = node.attributes().flag("allowzero", false);
  const Shape asked = wanted;
  std::size_t open = wanted.size();
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i] < -1 || (wanted[i] == -1 && open < wanted.size()) ||
        (wanted[i] == 0 && !zero_is_zero && i >= shape.size()))
      node.fail(fmt::format("the new shape {} is not one for the input {}", to_text(asked),
                            to_text(shape)));
    if (wanted[i] == 0 && !zero_is_zero) wanted[i] = shape[i];
    if (wanted[i] == -1) open = i;
  }
  const std::int64_t elements = element_count(shape, node.place());
  if (open < wanted.size()) {
    wanted[open] = 1;
    check_shape(node.type(0), wanted, node.place());
    const std::int64_t others = element_count(wanted, node.place());
    wanted[open] = others == 0 ? 0 : elements / others;
  }
  check_shape(node.type(0), wanted, node.place());
  if (element_count(wanted, node.place()) != elements)
    node.fail(fmt::format("the new shape {} does not hold the {} elements of the input {}",
                          to_text(asked), elements, to_text(shape)));
  return wanted;
}

/// Normalised, ascending, each once.
Shape axes_within(const Node& node, Shape axes, std::int64_t rank) {
  for (std::int64_t& axis : axes) axis = normalized(node, axis, rank);
  std::sort(axes.begin(), axes.end());
  if (std::adjacent_find(axes.begin(), axes.end()) != axes.end())
    node.fail("an axis is given twice");
  return axes;
}

}  // namespace

void lower_reshape(Node& node) { reshape(node, resolve(node, integers(node, 1, "the new shape"))); }

void lower_flatten(Node& node) {
  const Shape& shape = node.shape(0);
  const std::int64_t given = node.attributes().integer("axis", 1);
  const std::int64_t rank = node.rank(0);
  if (given < -rank || given > rank)
    node.fail(fmt::format("the axis {} does not exist; the tensor has {} dimensions", given, rank));
  const auto middle = shape.begin() + (given < 0 ? given + rank : given);
  const Shape front(shape.begin(), middle);
  const Shape back(middle, shape.end());
  reshape(node, {element_count(front, node.place()), element_count(back, node.place())});
}

void lower_squeeze(Node& node) {
  const Shape shape = node.shape(0);
  const std::optional<Shape> given = integers(node, "axes", 1, 13);
  const Shape axes = axes_within(node, given.value_or(Shape()), node.rank(0));
  Shape result;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const bool named = std::binary_search(axes.begin(), axes.end(), static_cast<std::int64_t>(i));
    if (named && shape[i] != 1)
      node.fail(fmt::format("dimension {} of the input {} cannot be removed; its size is not 1", i,
                            to_text(shape)));
    if (!named && (given || shape[i] != 1)) result.push_back(shape[i]);
  }
  reshape(node, std::move(result));
}

void lower_unsqueeze(Node& node) {
  const std::optional<Shape> given = integers(node, "axes", 1, 13);
  if (!given) node.fail("'axes' is missing");
  if (given->size() > most_dimensions) node.fail("there are too many axes");
  Shape result = node.shape(0);
  const auto rank = static_cast<std::int64_t>(result.size() + given->size());
  for (const std::int64_t axis : axes_within(node, *given, rank))
    result.insert(result.begin() + axis, 1);
  reshape(node, std::move(result));
}

void lower_transpose(Node& node) {
  const Shape& shape = node.shape(0);
  Shape order(shape.size());
  std::iota(order.begin(), order.end(), 0);
  const Shape same = order;
  std::reverse(order.begin(), order.end());
  order = node.attributes().integers("perm").value_or(order);
  Made made{node.type(0), {}};
  Shape sorted = order;
  std::sort(sorted.begin(), sorted.end());
  if (sorted != same)
    node.fail(fmt::format("the attribute 'perm' is {}, expected each of the {} dimensions once",
                          to_text(order), shape.size()));
  if (order == same) return node.give(0, node.input(0));
  for (const std::int64_t from : order) made.shape.push_back(shape[static_cast<std::size_t>(from)]);
  node.give(0, node.add(Transpose{std::move(order)}, {node.input(0)}, std::move(made)));
}

void lower_depth_to_space(Node& node) {
  const Shape shape = node.shape(0);
  const std::int64_t block = node.attributes().required_integer("blocksize");
  const std::string mode = node.attributes().text("mode", "DCR");
  if (mode != "DCR" && mode != "CRD")
    node.fail(fmt::format("the attribute 'mode' is '{}', expected DCR or CRD", mode));
  if (shape.size() != 4 || block < 1 || block > (1 << 15) || shape[1] % (block * block) != 0)
    node.fail(fmt::format("the input has the shape {}, expected four dimensions and channels that "
                          "are a multiple of the square of the block size {}",
                          to_text(shape), block));
  const Made made{node.type(0),
                  {shape[0], shape[1] / (block * block), shape[2] * block, shape[3] * block}};
  node.give(0, node.add(DepthToSpace{block, mode == "CRD"}, {node.input(0)}, made));
}

}  // namespace millrace::formats::onnx
