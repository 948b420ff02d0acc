#pragma once
// Numbers of all types in memory, and positions in tensors. Compiled for the GPU at run time, and
// for the host by the tests.
#include "engine/cuda/kernels/layer_parameters.h"

namespace millrace::engine::cuda {

inline __device__ float float_of_bits(unsigned bits) {
  union {
    unsigned bits;
    float value;
  } both;
  both.bits = bits;
  return both.value;
}
inline __device__ unsigned bits_of_float(float value) {
  union {
    float value;
    unsigned bits;
  } both;
  both.value = value;
  return both.bits;
}
inline __device__ float infinity() { return float_of_bits(0x7f800000u); }
inline __device__ bool is_nan(float value) { return value != value; }

#ifdef __CUDA_ARCH__
inline __device__ float half_to_float(unsigned short half) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(half));
  return value;
}
inline __device__ unsigned short float_to_half(float value) {
  unsigned short half;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half) : "f"(value));
  return half;
}
#else
inline __device__ float half_to_float(unsigned short half) {
  const unsigned sign = (half & 0x8000u) << 16, magnitude = half & 0x7fffu;
  if (magnitude >= 0x7c00u) return float_of_bits(sign | 0x7f800000u | (magnitude & 0x3ffu) << 13);
  const float factor = sign != 0 ? -1.0f : 1.0f;
  if (magnitude < 0x400u) return factor * static_cast<float>(magnitude) / 16777216.0f;
  return float_of_bits(sign | ((magnitude << 13) + 0x38000000u));
}
/// Rounds to nearest, ties to even.
inline __device__ unsigned short float_to_half(float value) {
  const unsigned bits = bits_of_float(value), sign = bits >> 16 & 0x8000u;
  const unsigned magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<unsigned short>(0x7fffu);
  if (magnitude >= 0x477ff000u) return static_cast<unsigned short>(sign | 0x7c00u);
  if (magnitude < 0x38800000u)
    return static_cast<unsigned short>(
        sign | static_cast<unsigned>(rintf(float_of_bits(magnitude) * 16777216.0f)));
  const unsigned rounded = magnitude + 0xfffu + (magnitude >> 13 & 1u);
  return static_cast<unsigned short>(sign | (rounded - 0x38000000u) >> 13);
}
#endif

template <class T>
inline __device__ T& at(const Place& place, long long offset) {
  return static_cast<T*>(place.data)[offset];
}

/// Of a real number or a boolean.
inline __device__ float load(const Place& place, long long offset) {
  if (place.element == element_float32) return at<float>(place, offset);
  if (place.element == element_float16) return half_to_float(at<unsigned short>(place, offset));
  return at<unsigned char>(place, offset) != 0 ? 1.0f : 0.0f;
}
inline __device__ void store(const Place& place, long long offset, float value) {
  if (place.element == element_float32)
    at<float>(place, offset) = value;
  else if (place.element == element_float16)
    at<unsigned short>(place, offset) = float_to_half(value);
  else
    at<unsigned char>(place, offset) = value != 0.0f ? 1 : 0;
}

inline __device__ bool is_real(int element) {
  return element == element_float32 || element == element_float16 || element == element_float64;
}
inline __device__ double load_real(const Place& place, long long offset) {
  return place.element == element_float64 ? at<double>(place, offset) : load(place, offset);
}
inline __device__ long long load_integer(const Place& place, long long offset) {
  switch (place.element) {
    case element_int8:
      return at<signed char>(place, offset);
    case element_uint8:
      return at<unsigned char>(place, offset);
    case element_int16:
      return at<short>(place, offset);
    case element_uint16:
      return at<unsigned short>(place, offset);
    case element_int32:
      return at<int>(place, offset);
    case element_uint32:
      return at<unsigned>(place, offset);
    case element_boolean:
      return at<unsigned char>(place, offset) != 0 ? 1 : 0;
    default:
      return at<long long>(place, offset);
  }
}
inline __device__ void store_integer(const Place& place, long long offset, long long value) {
  switch (place.element) {
    case element_int8:
    case element_uint8:
      at<unsigned char>(place, offset) = static_cast<unsigned char>(value);
      break;
    case element_int16:
    case element_uint16:
      at<unsigned short>(place, offset) = static_cast<unsigned short>(value);
      break;
    case element_int32:
    case element_uint32:
      at<unsigned>(place, offset) = static_cast<unsigned>(value);
      break;
    case element_boolean:
      at<unsigned char>(place, offset) = value != 0 ? 1 : 0;
      break;
    default:
      at<long long>(place, offset) = value;
  }
}

/// Along the dimensions of the work.
struct Position {
  int along[max_dimensions];
};
inline __device__ Position position_of(unsigned index, int dimensions, const int* shape) {
  Position position;
#pragma unroll
  for (int d = max_dimensions - 1; d > 0; --d) {
    position.along[d] = 0;
    if (d >= dimensions) continue;
    const unsigned size = static_cast<unsigned>(shape[d]), rest = index / size;
    position.along[d] = static_cast<int>(index - rest * size);
    index = rest;
  }
  position.along[0] = static_cast<int>(index);
  return position;
}
inline __device__ long long offset_in(const int* strides, const Position& position,
                                      int dimensions) {
  long long offset = 0;
#pragma unroll
  for (int d = 0; d < max_dimensions; ++d)
    if (d < dimensions) offset += static_cast<long long>(position.along[d]) * strides[d];
  return offset;
}
inline __device__ long long offset_in(const Place& place, const Position& position,
                                      int dimensions) {
  return offset_in(place.strides, position, dimensions);
}

/// The number of this thread among all of the launch.
inline __device__ unsigned thread_number() { return blockIdx.x * blockDim.x + threadIdx.x; }

}  // namespace millrace::engine::cuda
