#pragma once
// Sums of all numbers up to each one.
#include <cstddef>

namespace millrace::kernels {

/// Along an axis of `size` numbers, `inner` apart, `outer` times. Exclusive: without the number
/// itself. Reversed: from the end.
struct Cumulation {
  std::size_t outer = 1, size = 1, inner = 1;
  bool exclusive = false, reverse = false;
};

/// Added in order. `to` is elsewhere. Runs on the calling thread and its OpenMP helpers.
void cumulate(const Cumulation& axis, const float* from, float* to);

}  // namespace millrace::kernels
