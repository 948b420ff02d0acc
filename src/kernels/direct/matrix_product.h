#pragma once
// Products of matrices that are both computed, in stacks, in float32: the second factor is packed
// before each of them. For processors that oneDNN has no kernels for.
#include <cstddef>
#include <vector>

#include "kernels/direct/direct_convolution.h"

namespace millrace::kernels {

/// result = scale * a * b + bias, with what OwnConvolution adds to that and makes of it.
struct MatrixProduct {
  /// Rows are an image's, of one pixel each: channels are the numbers of a row of `a`, outputs the
  /// columns of `b`.
  DirectConvolution product;
  std::size_t b_row = 1, b_column = 1;  // how far numbers of b lie apart: from row to row, ...
  float scale = 1;
  /// Where the matrices of a product begin, in numbers; results follow each other.
  struct Place {
    std::size_t a = 0, b = 0;
  };
  std::vector<Place> stack = {Place{}};
};

/// In bytes.
std::size_t working_size(const MatrixProduct& product);

/// `a` and `result`: row by row, without gaps.
struct MatrixOperands {
  const float *a = nullptr, *b = nullptr;
  const float* bias = nullptr;    // by column; may be null
  std::byte* working = nullptr;   // working_size() bytes, aligned to 4
  float* result = nullptr;
};

/// Runs on the calling thread and its OpenMP helpers; allocates nothing. Precondition: the machine
/// has vectors of the product's lanes.
void multiply_matrices(const MatrixProduct& product, const MatrixOperands& operands);

}  // namespace millrace::kernels
