#include <fmt/format.h>

#include "network/onnx/lower.h"

namespace millrace::network::onnx {
namespace {

void check_inner(const Node& node, std::int64_t a, std::int64_t b) {
  if (a != b)
    node.fail(fmt::format("the matrices {} and {} do not fit: {} columns meet {} rows",
                          to_text(node.shape(0)), to_text(node.shape(1)), a, b));
}

}  // namespace

void lower_gemm(Node& node) {
  node.need_same_types();
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
  check_inner(node, a[gemm.transpose_a ? 0 : 1], b[gemm.transpose_b ? 1 : 0]);
  const Made made{node.type(0), {a[gemm.transpose_a ? 1 : 0], b[gemm.transpose_b ? 0 : 1]}};
  if (node.has(2) && broadcast(node.shape(2), made.shape) != made.shape)
    node.fail(fmt::format("the addend '{}' has shape {}, which does not spread over the result {}",
                          node.tensor(2).name, to_text(node.shape(2)), to_text(made.shape)));
  node.give(0, node.add(gemm, node.inputs(), made));
}

void lower_mat_mul(Node& node) {
  node.need_same_types();
  Shape a = node.shape(0);
  Shape b = node.shape(1);
  if (a.empty() || b.empty()) node.fail("a factor is a scalar, expected vectors or matrices");
  const bool row = a.size() == 1;
  const bool column = b.size() == 1;
  if (row) a.insert(a.begin(), 1);
  if (column) b.push_back(1);
  check_inner(node, a.back(), b[b.size() - 2]);
  const std::optional<Shape> batch =
      broadcast(Shape(a.begin(), a.end() - 2), Shape(b.begin(), b.end() - 2));
  if (!batch)
    node.fail(fmt::format("the batches of {} and {} do not fit", to_text(node.shape(0)),
                          to_text(node.shape(1))));
  Made made{node.type(0), *batch};
  if (!row) made.shape.push_back(a[a.size() - 2]);
  if (!column) made.shape.push_back(b.back());
  node.give(0, node.add(MatMul{}, node.inputs(), made));
}

}  // namespace millrace::network::onnx
