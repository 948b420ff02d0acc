#pragma once
// Functions, softmax and averages of float16 or bfloat16 numbers, computed in float32 a few at a
// time. All run on the calling thread and its OpenMP helpers. Precondition: as in half_elements.h.
#include <span>

#include "kernels/half/half_convolution.h"
#include "kernels/plain/functions.h"
#include "kernels/plain/rows.h"
#include "kernels/pool.h"

namespace millrace::kernels {

/// apply() of plain/functions.h. `to` may be `from`.
void apply_to_halves(const ElementFunction& function, std::span<const Half> from, Half* to,
                     StoredNumber kind);

/// softmax_rows() of plain/softmax.h. Its results are float32: most of them are small.
struct HalfSoftmax {
  DenseRows rows;
  bool logarithm = false;
  StoredNumber kind = StoredNumber::f16;
};
void softmax_of_halves(const HalfSoftmax& softmax, const Half* from, float* to);

/// average_pool() of pool.h.
void average_pool_of_halves(const Pool& pool, const Half* from, Half* to, StoredNumber kind);

}  // namespace millrace::kernels
