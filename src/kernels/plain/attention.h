#pragma once
// Attention: products with keys, softmax, products with values, without writing the products down.
#include <cstddef>
#include <vector>

namespace millrace::kernels {

/// Matrices of one size, anywhere in a tensor. In numbers, which may be 0 where one serves several.
struct MatrixPlaces {
  std::vector<std::ptrdiff_t> begins;  // by matrix
  std::ptrdiff_t row = 0, column = 0;  // from one row or column to the next
};

/// By matrix: result = softmax of the rows of (factor * queries keys + mask) * values.
struct Attention {
  std::size_t rows = 1, keys = 1;    // of the products
  std::size_t depth = 1, width = 1;  // of a query, and of a result
  float factor = 1;
  MatrixPlaces query;   // rows x depth
  MatrixPlaces key;     // depth x keys
  MatrixPlaces value;   // keys x width
  MatrixPlaces mask;    // rows x keys; no begins: none
  MatrixPlaces result;  // rows x width
};
struct AttentionOperands {
  const float *query = nullptr, *key = nullptr, *value = nullptr, *mask = nullptr;
  float* result = nullptr;
  float* working = nullptr;  // working_numbers()
};

/// Blocks of rows, of all matrices, that threads share.
std::size_t blocks_of(const Attention& attention);
/// What the threads that work at once need together.
std::size_t working_numbers(const Attention& attention, std::size_t threads);

/// Like softmax_rows() between two products of matrices, but for the order of sums. Runs on the
/// calling thread and its OpenMP helpers, at most `threads` together.
void attend(const Attention& attention, const AttentionOperands& operands, std::size_t threads);

}  // namespace millrace::kernels
