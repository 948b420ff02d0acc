// Resized tensors.
#include "engine/cuda/kernels/numbers.cuh"

namespace millrace::engine::cuda {

inline __device__ int taps_of(const Axis& axis) { return axis.taps == 0 ? 1 : axis.taps; }

/// One of the inputs that an output is made of, and its weight.
struct Tap {
  long long offset;
  float weight;
};
inline __device__ Tap tap_of(const ResizeWork& work, const Position& y, int number) {
  Tap tap{0, 1};
#pragma unroll
  for (int d = max_dimensions - 1; d >= 0; --d) {
    if (d >= work.dimensions) continue;
    const Axis& axis = work.axes[d];
    if (axis.taps == 0) {
      tap.offset += static_cast<long long>(y.along[d]) * work.x.strides[d];
      continue;
    }
    const int at = y.along[d] * axis.taps + number % axis.taps;
    number /= axis.taps;
    tap.offset += static_cast<long long>(axis.positions[at]) * work.x.strides[d];
    tap.weight *= axis.weights[at];
  }
  return tap;
}

extern "C" __global__ void millrace_resize(const ResizeWork work) {
  const unsigned index = thread_number();
  if (index >= work.count) return;
  const Position y = position_of(index, work.dimensions, work.shape);
  int taps = 1;
  bool is_outside = false;
#pragma unroll
  for (int d = 0; d < max_dimensions; ++d) {
    if (d >= work.dimensions) continue;
    const Axis& axis = work.axes[d];
    taps *= taps_of(axis);
    if (axis.taps != 0 && axis.outside[y.along[d]] != 0) is_outside = true;
  }
  float sum = 0;
  for (int number = 0; number < taps && !is_outside; ++number) {
    const Tap tap = tap_of(work, y, number);
    sum += tap.weight * load(work.x, tap.offset);
  }
  store(work.y, offset_in(work.y, y, work.dimensions), is_outside ? work.extrapolation : sum);
}

}  // namespace millrace::engine::cuda
