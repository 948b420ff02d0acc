#pragma once
// Products of matrices in tiles: a block of 256 threads makes 64 rows of 64 columns, each thread 4
// of 4, from steps of 16 along the depth.
#include "engine/cuda/kernels/functions.cuh"

namespace millrace::engine::cuda {

constexpr int tile_size = 64, tile_depth = 16, per_thread = 4;

struct Tiles {
  float a[tile_depth][tile_size], b[tile_depth][tile_size];
};

/// What this thread multiplies: rows and columns `across` apart of 16 by 16 threads.
struct Sums {
  float of[per_thread][per_thread];
};
inline __device__ int tile_row(int i) { return static_cast<int>(threadIdx.x) / 16 + 16 * i; }
inline __device__ int tile_column(int j) { return static_cast<int>(threadIdx.x) % 16 + 16 * j; }

inline __device__ void clear(Sums& sums) {
#pragma unroll
  for (int i = 0; i < per_thread; ++i)
#pragma unroll
    for (int j = 0; j < per_thread; ++j) sums.of[i][j] = 0;
}

inline __device__ void add_products(const Tiles& tiles, Sums& sums) {
#pragma unroll
  for (int k = 0; k < tile_depth; ++k) {
    float a[per_thread], b[per_thread];
#pragma unroll
    for (int i = 0; i < per_thread; ++i) a[i] = tiles.a[k][tile_row(i)];
#pragma unroll
    for (int j = 0; j < per_thread; ++j) b[j] = tiles.b[k][tile_column(j)];
#pragma unroll
    for (int i = 0; i < per_thread; ++i)
#pragma unroll
      for (int j = 0; j < per_thread; ++j) sums.of[i][j] += a[i] * b[j];
  }
}

}  // namespace millrace::engine::cuda
