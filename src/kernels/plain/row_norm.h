#pragma once
// Normalisation of rows: over the channels of a token, over an image's channel or group of them.
#include <cstddef>

namespace millrace::kernels {

/// y = (x - mean) / sqrt(variance + epsilon) * scale + bias; not centred (RMS): the mean counts as
/// 0. A row falls into `parts` equal parts with a scale and a bias each; those of `period` rows
/// follow each other, and then they begin again. So with `parts` = `size` each number has its own.
struct RowNorm {
  std::size_t rows = 1, size = 1;
  std::size_t parts = 1, period = 1;
  float epsilon = 1e-5f;
  bool centred = true;
};

/// All but the first two may be null.
struct RowNormOperands {
  const float* from = nullptr;
  float* to = nullptr;
  const float *scale = nullptr, *bias = nullptr;  // period * parts
  float *means = nullptr, *factors = nullptr;     // by row: what is subtracted, and multiplied by
};

/// Sums are exact to a few roundings however long a row is. `to` may be `from`. Runs on the calling
/// thread and its OpenMP helpers.
void normalize_rows(const RowNorm& norm, const RowNormOperands& operands);

}  // namespace millrace::kernels
