#pragma once
// Softmax of rows of numbers that lie side by side, and of columns.
#include "kernels/plain/rows.h"

namespace millrace::kernels {

/// exp(x - largest) / sum, or its logarithm. `to` may be `from`.
void softmax_rows(const DenseRows& rows, bool logarithm, const float* from, float* to);

/// The same of columns.
void softmax_columns(const DenseColumns& columns, bool logarithm, const float* from, float* to);

}  // namespace millrace::kernels
