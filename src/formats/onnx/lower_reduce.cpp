#include <algorithm>
#include <numeric>

#include "formats/onnx/lower.h"

namespace millrace::formats::onnx {
namespace {

/// The shape without the axes, or with ones in their place.
/// `sums`: of no elements the result is zero, or one for products.
Shape reduced(const Node& node, const Shape& axes, bool sums = false) {
  const bool keep = node.attributes().flag("keepdims", true);
  const Shape& shape = node.shape(0);
  Shape result;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const bool gone =
        std::binary_search(axes.begin(), axes.end(), static_cast<std::int64_t>(i));
    if (gone && shape[i] == 0 && !sums) node.fail("a reduced dimension has no elements");
    if (!gone) result.push_back(shape[i]);
    if (gone && keep) result.push_back(1);
  }
  return result;
}

/// What a reduction does to each element, where none are taken together.
TensorId each_element(Node& node, ReduceKind kind) {
  const TensorId x = node.input(0);
  const Made made{node.type(0), node.shape(0)};
  switch (kind) {
    case ReduceKind::l1:
    case ReduceKind::l2:
      return node.add(Unary{UnaryKind::abs}, {x}, made);
    case ReduceKind::log_sum:
      return node.add(Unary{UnaryKind::log}, {x}, made);
    case ReduceKind::sum_square:
      return node.add(Binary{BinaryKind::mul}, {x, x}, made);
    default:
      return x;
  }
}

void lower_reduce(Node& node, ReduceKind kind) {
  const std::int64_t rank = node.rank(0);
  const std::int64_t since = kind == ReduceKind::sum ? 13 : 18;  // axes are an input
  Shape axes = integers(node, "axes", 1, since).value_or(Shape());
  if (axes.empty() && node.attributes().flag("noop_with_empty_axes", false)) {
    node.give(0, each_element(node, kind));
    return;
  }
  for (std::int64_t& axis : axes) axis = normalized(node, axis, rank);
  if (axes.empty()) {
    axes.resize(static_cast<std::size_t>(rank));
    std::iota(axes.begin(), axes.end(), 0);
  }
  std::sort(axes.begin(), axes.end());
  if (std::adjacent_find(axes.begin(), axes.end()) != axes.end())
    node.fail("an axis is given twice");
  const Made made{node.type(0), reduced(node, axes, kind >= ReduceKind::sum)};
  node.give(0, node.add(Reduce{kind, std::move(axes)}, {node.input(0)}, made));
}

void lower_best(Node& node, bool smallest) {
  if (node.rank(0) == 0) node.fail("the input is a scalar, expected at least one dimension");
  ArgMax op;
  op.axis = normalized(node, node.attributes().integer("axis", 0), node.rank(0));
  op.select_last = node.attributes().flag("select_last_index", false);
  op.smallest = smallest;
  const Made made{DataType::int64, reduced(node, {op.axis})};
  node.give(0, node.add(op, {node.input(0)}, made));
}

}  // namespace

void lower_reduce_mean(Node& node) { lower_reduce(node, ReduceKind::mean); }
void lower_reduce_min(Node& node) { lower_reduce(node, ReduceKind::min); }
void lower_reduce_max(Node& node) { lower_reduce(node, ReduceKind::max); }

void lower_reduce_sum(Node& node) { lower_reduce(node, ReduceKind::sum); }
void lower_reduce_prod(Node& node) { lower_reduce(node, ReduceKind::prod); }
void lower_reduce_l1(Node& node) { lower_reduce(node, ReduceKind::l1); }
void lower_reduce_l2(Node& node) { lower_reduce(node, ReduceKind::l2); }
void lower_reduce_log_sum(Node& node) { lower_reduce(node, ReduceKind::log_sum); }
void lower_reduce_log_sum_exp(Node& node) { lower_reduce(node, ReduceKind::log_sum_exp); }
void lower_reduce_sum_square(Node& node) { lower_reduce(node, ReduceKind::sum_square); }

void lower_arg_max(Node& node) { lower_best(node, false); }
void lower_arg_min(Node& node) { lower_best(node, true); }

}  // namespace millrace::formats::onnx
