#pragma once
// Products of a few rows with a matrix that was packed before, for layers that go on step by step.
#include <cstddef>
#include <span>
#include <vector>

namespace millrace::kernels {

/// A matrix of `columns` columns with `depth` numbers each; in panels of some columns.
class PackedMatrix {
 public:
  PackedMatrix() = default;
  /// `transposed`: the columns one behind the other, as weights by output are.
  PackedMatrix(std::span<const float> transposed, std::size_t columns);

  std::size_t columns() const { return columns_; }
  std::size_t depth() const { return depth_; }
  /// From one row of results to the next: whole panels.
  std::size_t width() const;

  /// to = bias + from * matrix, for rows of depth() numbers that follow each other. `bias`: width()
  /// numbers. Runs on the calling thread and its OpenMP helpers.
  void multiply(std::size_t rows, const float* from, const float* bias, float* to) const;

 private:
  std::size_t columns_ = 0, depth_ = 0;
  std::vector<float> panels_;
};

}  // namespace millrace::kernels
