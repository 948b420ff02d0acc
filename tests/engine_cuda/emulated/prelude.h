#pragma once
// What the GPU's compiler knows by itself, for the host's compiler: goes before a kernel's source.
#include <math.h>  // its functions have the GPU's names in the global namespace

#include "dimensions.h"

#define __global__
#define __device__ __attribute__((unused))  // not every kernel uses all of a header
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __constant__ __attribute__((unused))
#define __launch_bounds__(...)
// One for all blocks, which run one after the other.
#define __shared__ static

extern emulated::Dimensions threadIdx, blockIdx, blockDim, gridDim;

/// Until all threads of the block are here, but for those that have ended.
extern "C" void __syncthreads();

#define atomicExch emulated::exchange
inline float rsqrtf(float value) { return 1.0f / sqrtf(value); }

namespace emulated {

/// Atomic, as threads run one at a time and only pause at barriers.
template <class T>
T exchange(T* at, T value) {
  const T before = *at;
  *at = value;
  return before;
}

}  // namespace emulated
