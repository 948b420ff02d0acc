// Gemm and MatMul.
#include "network/evaluate/loops.h"
#include "network/evaluate/product.h"
#include "network/evaluate/types.h"
#include "network/evaluate/walk.h"

namespace millrace::network::loops {
namespace {

/// A matrix in memory, perhaps read transposed.
template <class T>
struct Matrix {
  const T* data = nullptr;
  std::int64_t row = 0, column = 0;
};

template <class T>
void add_product(Product<T> product, const Matrix<T>& a, const Matrix<T>& b) {
  product.a = a.data;
  product.a_row = a.row;
  product.a_column = a.column;
  multiply(product, [&](const PanelPlace& at, T* panel) {
    const T* from = b.data + at.k * b.row + at.column * b.column;
    for (std::int64_t k = 0; k < at.depth; ++k, from += b.row, panel += panel_width)
      for (std::int64_t j = 0; j < at.columns; ++j) panel[j] = from[j * b.column];
  });
}

/// Factors of integers are applied in double to the true, signed values.
template <class T>
void scale(const View& out, double factor) {
  if (factor == 1) return;
  T* values = out.as<T>();
  const std::int64_t n = count(out.shape);
  for (std::int64_t i = 0; i < n; ++i) {
    if constexpr (std::is_floating_point_v<T>) {
      values[i] *= static_cast<T>(factor);
    } else {
      values[i] = saturate<T>(factor * static_cast<double>(values[i]));
    }
  }
}

void scale(const View& out, double factor) {
  visit_number(out.type, [&]<class T>(std::type_identity<T>) { scale<T>(out, factor); });
}

template <class T>
void gemm(const Gemm& op, Inputs in, const View& out) {
  const std::int64_t rows = out.shape[0], columns = out.shape[1];
  const std::int64_t depth = in[0].shape[op.transpose_a ? 0 : 1];
  std::fill_n(out.as<T>(), rows * columns, T{});
  const Product<T> product{nullptr, 0, 0, out.as<T>(), columns, rows, columns, depth};
  const Matrix<T> a = op.transpose_a ? Matrix<T>{in[0].as<T>(), 1, rows}
                                     : Matrix<T>{in[0].as<T>(), depth, 1};
  const Matrix<T> b = op.transpose_b ? Matrix<T>{in[1].as<T>(), 1, depth}
                                     : Matrix<T>{in[1].as<T>(), columns, 1};
  add_product(product, a, b);
}

/// 1-D operands become a row or a column.
Shape as_matrix(std::span<const std::int64_t> shape, bool column) {
  Shape result(shape.begin(), shape.end());
  if (result.size() == 1) result.insert(column ? result.end() : result.begin(), 1);
  return result;
}

/// Steps between the matrices of a stack, in elements, broadcast to the result's batch.
Shape batch_strides(const Shape& shape, const Shape& batch) {
  const std::int64_t matrix = shape[shape.size() - 2] * shape.back();
  Shape strides =
      broadcast_strides(std::span(shape).first(shape.size() - 2), batch);
  for (std::int64_t& stride : strides) stride *= matrix;
  return strides;
}

template <class T>
void matmul(Inputs in, const View& out) {
  const Shape a = as_matrix(in[0].shape, false), b = as_matrix(in[1].shape, true);
  const std::int64_t rows = a[a.size() - 2], depth = a.back(), columns = b.back();
  const Shape batch = *broadcast({a.begin(), a.end() - 2}, {b.begin(), b.end() - 2});
  Shape c = batch;
  c.insert(c.end(), {rows, columns});
  std::fill_n(out.as<T>(), count(c), T{});
  const Walk<3> walk{batch, {batch_strides(c, batch), batch_strides(a, batch),
                             batch_strides(b, batch)}};
  for_each(walk, batch.size(), [&](const std::array<std::int64_t, 3>& at) {
    add_product(Product<T>{nullptr, 0, 0, out.as<T>() + at[0], columns, rows, columns, depth},
                Matrix<T>{in[0].as<T>() + at[1], depth, 1},
                Matrix<T>{in[1].as<T>() + at[2], columns, 1});
  });
}

}  // namespace

void run(const Gemm& op, Inputs in, Outputs out) {
  visit_product(out[0].type, [&]<class T>(std::type_identity<T>) { gemm<T>(op, in, out[0]); });
  scale(out[0], static_cast<double>(op.alpha));
  const ConstView c = optional_input(in, 2);
  if (!c.present() || op.beta == 0) return;
  Buffer memory(size_of(c.type) * count(c.shape));
  const View scaled{c.type, c.shape, memory.data()};
  run(Reshape{}, {&c, 1}, {&scaled, 1});
  scale(scaled, static_cast<double>(op.beta));
  const std::array<ConstView, 2> both{ConstView{out[0].type, out[0].shape, out[0].data},
                                      ConstView{c.type, c.shape, memory.data()}};
  run(Binary{BinaryKind::add}, both, out);
}

void run(const MatMul&, Inputs in, Outputs out) {
  visit_product(out[0].type, [&]<class T>(std::type_identity<T>) { matmul<T>(in, out[0]); });
}

}  // namespace millrace::network::loops
