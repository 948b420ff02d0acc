// Element by element.
#include "engine/cuda/kernels/functions.cuh"

namespace millrace::engine::cuda {

extern "C" __global__ void millrace_elements(const ElementWork work) {
  const unsigned index = thread_number();
  if (index >= work.count) return;
  const Position position = position_of(index, work.dimensions, work.shape);
  const float value = load(work.in, offset_in(work.in, position, work.dimensions));
  store(work.out, offset_in(work.out, position, work.dimensions),
        finished(work.epilogue, value, position, work.dimensions));
}

/// Towards zero, clamped; what is not a number gives 0.
inline __device__ long long saturated(double value, double lowest, double highest) {
  if (value != value) return 0;
  if (value <= lowest) return static_cast<long long>(lowest);
  if (value >= highest) return static_cast<long long>(highest);
  return static_cast<long long>(value);
}

inline __device__ long long integer_of(double value, int element) {
  switch (element) {
    case element_int8: return saturated(value, -128, 127);
    case element_uint8: return saturated(value, 0, 255);
    case element_int16: return saturated(value, -32768, 32767);
    case element_uint16: return saturated(value, 0, 65535);
    case element_int32: return saturated(value, -2147483648.0, 2147483647.0);
    case element_uint32: return saturated(value, 0, 4294967295.0);
    case element_boolean: return value != 0 ? 1 : 0;
    default:
      if (value >= 9223372036854775808.0) return 0x7fffffffffffffffLL;
      return saturated(value, -9223372036854775808.0, 9223372036854775807.0);
  }
}

extern "C" __global__ void millrace_cast(const CastWork work) {
  const unsigned index = thread_number();
  if (index >= work.count) return;
  if (is_real(work.in.element)) {
    const double value = load_real(work.in, index);
    if (work.out.element == element_float64)
      at<double>(work.out, index) = value;
    else if (is_real(work.out.element))
      store(work.out, index, static_cast<float>(value));
    else
      store_integer(work.out, index, integer_of(value, work.out.element));
    return;
  }
  const long long value = load_integer(work.in, index);
  if (work.out.element == element_float64)
    at<double>(work.out, index) = static_cast<double>(value);
  else if (is_real(work.out.element))
    store(work.out, index, static_cast<float>(value));
  else
    store_integer(work.out, index, value);
}

template <class T>
inline __device__ bool holds(int comparison, T a, T b) {
  switch (comparison) {
    case compare_equal: return a == b;
    case compare_less: return a < b;
    case compare_greater: return a > b;
    case compare_less_equal: return a <= b;
    default: return a >= b;
  }
}

extern "C" __global__ void millrace_compare(const CompareWork work) {
  const unsigned index = thread_number();
  if (index >= work.count) return;
  const Position position = position_of(index, work.dimensions, work.shape);
  const long long a = offset_in(work.a, position, work.dimensions);
  const long long b = offset_in(work.b, position, work.dimensions);
  const bool result =
      is_real(work.a.element)
          ? holds(work.comparison, load_real(work.a, a), load_real(work.b, b))
          : holds(work.comparison, load_integer(work.a, a), load_integer(work.b, b));
  at<unsigned char>(work.out, offset_in(work.out, position, work.dimensions)) = result ? 1 : 0;
}

}  // namespace millrace::engine::cuda
