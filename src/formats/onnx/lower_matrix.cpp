#include <fmt/format.h>

#include "formats/onnx/lower.h"
#include "formats/onnx/quantized.h"

namespace millrace::formats::onnx {
namespace {

/// Which inputs are multiplied.
struct Factors {
  std::size_t a = 0, b = 1;
};

void check_inner(const Node& node, const Factors& factors, std::int64_t columns,
                 std::int64_t rows) {
  if (columns != rows)
    node.fail(fmt::format("the matrices {} and {} do not fit: {} columns meet {} rows",
                          to_text(node.shape(factors.a)), to_text(node.shape(factors.b)), columns,
                          rows));
}

/// What NumPy's matmul makes of the factors.
Shape shape_of_product(const Node& node, const Factors& factors) {
  Shape a = node.shape(factors.a);
  Shape b = node.shape(factors.b);
  if (a.empty() || b.empty()) node.fail("a factor is a scalar, expected vectors or matrices");
  const bool row = a.size() == 1;
  const bool column = b.size() == 1;
  if (row) a.insert(a.begin(), 1);
  if (column) b.push_back(1);
  check_inner(node, factors, a.back(), b[b.size() - 2]);
  const std::optional<Shape> batch =
      broadcast(Shape(a.begin(), a.end() - 2), Shape(b.begin(), b.end() - 2));
  if (!batch)
    node.fail(fmt::format("the batches of {} and {} do not fit", to_text(node.shape(factors.a)),
                          to_text(node.shape(factors.b))));
  Shape result = *batch;
  if (!row) result.push_back(a[a.size() - 2]);
  if (!column) result.push_back(b.back());
  return result;
}

/// The shapes that scales and zero points of rows, or of columns, may have: of a matrix one per
/// row, of a stack of them the stack's with one column.
std::vector<Shape> shapes_of_rows(const Shape& factor) {
  if (factor.size() < 2) return {};
  Shape one_column = factor;
  one_column.back() = 1;
  return {{factor[factor.size() - 2]}, one_column};
}
std::vector<Shape> shapes_of_columns(const Shape& factor) {
  if (factor.size() < 2) return {};
  Shape one_row = factor;
  one_row[factor.size() - 2] = 1;
  return {{factor.back()}, one_row};
}

}  // namespace

TensorId multiplied(Node& node) {
  need_same_types(node);
  const Shape a = node.shape(0);
  const Shape b = node.shape(1);
  if (a.size() != 2 || b.size() != 2)
    node.fail(fmt::format("the factors have shapes {} and {}, expected two matrices", to_text(a),
                          to_text(b)));
  Gemm gemm;
  gemm.transpose_a = node.attributes().integer("transA", 0) != 0;
  gemm.transpose_b = node.attributes().integer("transB", 0) != 0;
  gemm.alpha = node.attributes().number("alpha", 1);
  gemm.beta = node.attributes().number("beta", 1);
  check_inner(node, {}, a[gemm.transpose_a ? 0 : 1], b[gemm.transpose_b ? 1 : 0]);
  const Made made{node.type(0), {a[gemm.transpose_a ? 1 : 0], b[gemm.transpose_b ? 0 : 1]}};
  if (node.has(2) && broadcast(node.shape(2), made.shape) != made.shape)
    node.fail(fmt::format("the addend '{}' has shape {}, which does not spread over the result {}",
                          node.tensor(2).name, to_text(node.shape(2)), to_text(made.shape)));
  return node.add(gemm, node.inputs(), made);
}

void lower_gemm(Node& node) { node.give(0, multiplied(node)); }

void lower_mat_mul(Node& node) {
  need_same_types(node);
  const Made made{node.type(0), shape_of_product(node, {})};
  node.give(0, node.add(MatMul{}, node.inputs(), made));
}

void lower_mat_mul_integer(Node& node) {
  check_factors(node, {.values = 0, .zero = 2}, {.values = 1, .zero = 3});
  const Made made{DataType::int32, shape_of_product(node, {})};
  check_single_or(node, 2, shapes_of_rows(node.shape(0)));
  check_single_or(node, 3, shapes_of_columns(node.shape(1)));
  node.give(0, node.add(MatMulInteger{}, node.optional_inputs(), made));
}

TensorId multiplied_bytes(Node& node, const ByteFactors& factors) {
  const auto& [values, zero] = factors.b;
  for (const DataType type : {node.tensor(factors.a.values).type, node.type(values)})
    if (type != DataType::int8 && type != DataType::uint8)
      node.fail(fmt::format("a factor has type {}, expected int8 or uint8", to_text(type)));
  if (node.has(zero) && node.type(zero) != node.type(values))
    node.fail("a zero point has another type than its values");
  check_single_or(node, zero, shapes_of_columns(node.shape(values)));
  std::vector<TensorId> inputs{factors.a.values, node.input(values), factors.a.zero};
  if (node.has(zero)) inputs.push_back(node.input(zero));
  return node.add(MatMulInteger{}, std::move(inputs),
                  {DataType::int32, shape_of_product(node, {0, values})});
}

void lower_q_linear_mat_mul(Node& node) {
  check_quantized(node);
  const Made made{node.type(7), shape_of_product(node, {0, 3})};
  for (const std::size_t input : {1, 2})
    check_single_or(node, input, shapes_of_rows(node.shape(0)));
  for (const std::size_t input : {4, 5})
    check_single_or(node, input, shapes_of_columns(node.shape(3)));
  for (const std::size_t input : {6, 7}) check_single(node, input);
  node.give(0, node.add(QLinearMatMul{}, node.inputs(), made));
}

}  // namespace millrace::formats::onnx
