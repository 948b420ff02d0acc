// Products of matrices, for where cuBLAS is not there or has no kernel.
#include "engine/cuda/kernels/tiles.cuh"

namespace millrace::engine::cuda {

/// Blocks along x: columns; y: rows; z: the batch.
extern "C" __global__ void millrace_multiply(const ProductWork work) {
  __shared__ Tiles tiles;
  const int batch = work.batch_dimensions;
  Position at = position_of(blockIdx.z, batch, work.batch);
  const long long a = batch == 0 ? 0 : offset_in(work.a, at, batch);
  const long long b = batch == 0 ? 0 : offset_in(work.b, at, batch);
  const int first_row = static_cast<int>(blockIdx.y) * tile_size;
  const int first_column = static_cast<int>(blockIdx.x) * tile_size;
  const int a_row = work.a.strides[batch], a_depth = work.a.strides[batch + 1];
  const int b_depth = work.b.strides[batch], b_column = work.b.strides[batch + 1];
  Sums sums;
  clear(sums);
  for (int k = 0; k < work.depth; k += tile_depth) {
    for (int i = static_cast<int>(threadIdx.x); i < tile_depth * tile_size; i += 256) {
      const int depth = i % tile_depth, row = first_row + i / tile_depth;
      tiles.a[depth][i / tile_depth] =
          k + depth < work.depth && row < work.rows
              ? load(work.a, a + static_cast<long long>(row) * a_row +
                                 static_cast<long long>(k + depth) * a_depth)
              : 0.0f;
    }
    for (int i = static_cast<int>(threadIdx.x); i < tile_depth * tile_size; i += 256) {
      const int depth = i / tile_size, column = first_column + i % tile_size;
      tiles.b[depth][i % tile_size] =
          k + depth < work.depth && column < work.columns
              ? load(work.b, b + static_cast<long long>(k + depth) * b_depth +
                                 static_cast<long long>(column) * b_column)
              : 0.0f;
    }
    __syncthreads();
    add_products(tiles, sums);
    __syncthreads();
  }
  for (int i = 0; i < per_thread; ++i)
    for (int j = 0; j < per_thread; ++j) {
      const int row = first_row + tile_row(i), column = first_column + tile_column(j);
      if (row >= work.rows || column >= work.columns) continue;
      Position y = at;
#pragma unroll
      for (int d = 0; d < max_dimensions; ++d) {
        if (d == batch) y.along[d] = row;
        if (d == batch + 1) y.along[d] = column;
      }
      store(work.y, offset_in(work.y, y, batch + 2),
            finished(work.epilogue, sums.of[i][j], y, batch + 2));
    }
}

}  // namespace millrace::engine::cuda
