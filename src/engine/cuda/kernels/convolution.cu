// Convolutions, for where cuDNN is not there or has no kernel.
#include "engine/cuda/kernels/tiles.cuh"

namespace millrace::engine::cuda {

/// The position in the input that one of the window reads; -1: none.
inline __device__ int read_at(const ConvolutionWork& work, int d, int out, int k) {
  if (work.transposed == 0) {
    const int i = out * work.strides[d] - work.pads[d] + k * work.dilations[d];
    return i >= 0 && i < work.in[d] ? i : -1;
  }
  const int spread = out + work.pads[d] - k * work.dilations[d];
  if (spread < 0 || spread % work.strides[d] != 0) return -1;
  const int i = spread / work.strides[d];
  return i < work.in[d] ? i : -1;
}

inline __device__ Position output_position(const ConvolutionWork& work, unsigned index) {
  const int shape[max_dimensions] = {work.frames, work.filters, work.out[0],
                                     work.out[1], work.out[2],  1, 1, 1};
  return position_of(index, 5, shape);
}

/// The sum over the window of one channel of the input.
inline __device__ float window_sum(const ConvolutionWork& work, const Position& y, int channel,
                                   const float* weights) {
  float sum = 0;
  const int* out = y.along + 2;
  for (int kd = 0; kd < work.kernel[0]; ++kd) {
    const int d = read_at(work, 0, out[0], kd);
    for (int kh = 0; kh < work.kernel[1] && d >= 0; ++kh) {
      const int h = read_at(work, 1, out[1], kh);
      for (int kw = 0; kw < work.kernel[2] && h >= 0; ++kw) {
        const int w = read_at(work, 2, out[2], kw);
        if (w < 0) continue;
        const Position x{{y.along[0], channel, d, h, w, 0, 0, 0}};
        sum += load(work.x, offset_in(work.x, x, 5)) *
               weights[(kd * work.kernel[1] + kh) * work.kernel[2] + kw];
      }
    }
  }
  return sum;
}

/// One thread for each output.
extern "C" __global__ void millrace_convolve(const ConvolutionWork work) {
  const unsigned index = thread_number();
  if (index >= work.count) return;
  const Position y = output_position(work, index);
  const int filter = y.along[1], filters = work.filters / work.groups;
  const int channels = work.channels / work.groups, group = filter / filters;
  const int volume = work.kernel[0] * work.kernel[1] * work.kernel[2];
  const float* const weights = static_cast<const float*>(work.w.data);
  float sum = 0;
  for (int c = 0; c < channels; ++c) {
    const int channel = group * channels + c;
    const long long kernel = work.transposed != 0
                                 ? static_cast<long long>(channel) * filters + filter % filters
                                 : static_cast<long long>(filter) * channels + c;
    sum += window_sum(work, y, channel, weights + kernel * volume);
  }
  store(work.y, offset_in(work.y, y, 5), finished(work.epilogue, sum, y, 5));
}

/// A row of the second matrix is a channel and a position of the window, a column an output.
inline __device__ float window_element(const ConvolutionWork& work, int frame, int channel_from,
                                       int row, const Position& pixel) {
  const int kw = row % work.kernel[2], kh = row / work.kernel[2] % work.kernel[1];
  const int kd = row / work.kernel[2] / work.kernel[1] % work.kernel[0];
  const int channel = row / (work.kernel[0] * work.kernel[1] * work.kernel[2]);
  const int d = read_at(work, 0, pixel.along[0], kd), h = read_at(work, 1, pixel.along[1], kh);
  const int w = read_at(work, 2, pixel.along[2], kw);
  if (d < 0 || h < 0 || w < 0) return 0;
  const Position x{{frame, channel_from + channel, d, h, w, 0, 0, 0}};
  return load(work.x, offset_in(work.x, x, 5));
}

/// Blocks along x: outputs; y: filters of a group; z: frames and groups. Not transposed.
extern "C" __global__ void millrace_convolve_tiled(const ConvolutionWork work) {
  __shared__ Tiles tiles;
  const int filters = work.filters / work.groups, channels = work.channels / work.groups;
  const int frame = static_cast<int>(blockIdx.z) / work.groups;
  const int group = static_cast<int>(blockIdx.z) % work.groups;
  const int depth = channels * work.kernel[0] * work.kernel[1] * work.kernel[2];
  const int pixels = work.out[0] * work.out[1] * work.out[2];
  const int first_pixel = static_cast<int>(blockIdx.x) * tile_size;
  const int first_filter = static_cast<int>(blockIdx.y) * tile_size;
  const int lane = static_cast<int>(threadIdx.x) % tile_size;
  const int row = static_cast<int>(threadIdx.x) / tile_size;
  const int shape[max_dimensions] = {work.out[0], work.out[1], work.out[2], 1, 1, 1, 1, 1};
  const Position pixel = position_of(static_cast<unsigned>(first_pixel + lane), 3, shape);
  const float* const weights =
      static_cast<const float*>(work.w.data) + static_cast<long long>(group) * filters * depth;
  Sums sums;
  clear(sums);
  for (int k = 0; k < depth; k += tile_depth) {
    for (int r = row; r < tile_depth; r += 4)
      tiles.b[r][lane] = k + r < depth && first_pixel + lane < pixels
                             ? window_element(work, frame, group * channels, k + r, pixel)
                             : 0.0f;
    for (int i = static_cast<int>(threadIdx.x); i < tile_depth * tile_size; i += 256) {
      const int r = i % tile_depth, f = i / tile_depth;
      tiles.a[r][f] = k + r < depth && first_filter + f < filters
                          ? weights[static_cast<long long>(first_filter + f) * depth + k + r]
                          : 0.0f;
    }
    __syncthreads();
    add_products(tiles, sums);
    __syncthreads();
  }
  for (int i = 0; i < per_thread; ++i)
    for (int j = 0; j < per_thread; ++j) {
      const int filter = first_filter + tile_row(i), p = first_pixel + tile_column(j);
      if (filter >= filters || p >= pixels) continue;
      const Position at = position_of(static_cast<unsigned>(p), 3, shape);
      const Position y{{frame, group * filters + filter, at.along[0], at.along[1], at.along[2],
                        0, 0, 0}};
      store(work.y, offset_in(work.y, y, 5), finished(work.epilogue, sums.of[i][j], y, 5));
    }
}

}  // namespace millrace::engine::cuda
