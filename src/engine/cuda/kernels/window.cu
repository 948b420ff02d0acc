// Pools, and what looks at neighbouring channels.
#include "engine/cuda/kernels/numbers.cuh"

namespace millrace::engine::cuda {

/// The part of a window that lies inside the input, in one dimension.
struct Extent {
  int begin, step, first, last;  // positions begin + k * step, for k in [first, last)
  int padded;                    // with those in the padding
};
inline __device__ Extent extent_of(const PoolWork& work, int d, int out) {
  Extent extent{out * work.strides[d] - work.pads[d], work.dilations[d], 0, 0, 0};
  bool found = false;
  for (int k = 0; k < work.kernel[d]; ++k) {
    const int i = extent.begin + k * extent.step;
    if (i < work.in[d] + work.pads_end[d]) ++extent.padded;
    if (i < 0 || i >= work.in[d]) continue;
    if (!found) extent.first = k;
    found = true;
    extent.last = k + 1;
  }
  return extent;
}
inline __device__ int size_of(const Extent& extent) { return extent.last - extent.first; }

struct Largest {
  float value;
  int d, h, w;
  bool found;
};
inline __device__ void take(Largest& best, float value, int d, int h, int w) {
  if (best.found && !(value > best.value)) return;
  best = {value, d, h, w, true};
}

extern "C" __global__ void millrace_pool(const PoolWork work) {
  const unsigned index = thread_number();
  if (index >= work.count) return;
  const int shape[max_dimensions] = {work.frames, work.channels, work.out[0], work.out[1],
                                     work.out[2], 1, 1, 1};
  const Position y = position_of(index, 5, shape);
  const Extent d = extent_of(work, 0, y.along[2]), h = extent_of(work, 1, y.along[3]);
  const Extent w = extent_of(work, 2, y.along[4]);
  Largest best{-3.402823466e+38f, 0, 0, 0, false};
  float sum = 0;
  for (int kd = d.first; kd < d.last; ++kd)
    for (int kh = h.first; kh < h.last; ++kh)
      for (int kw = w.first; kw < w.last; ++kw) {
        const int id = d.begin + kd * d.step, ih = h.begin + kh * h.step;
        const int iw = w.begin + kw * w.step;
        const Position x{{y.along[0], y.along[1], id, ih, iw, 0, 0, 0}};
        const float value = load(work.x, offset_in(work.x, x, 5));
        sum += value;
        take(best, value, id, ih, iw);
      }
  const int divisor = work.count_include_pad != 0 ? d.padded * h.padded * w.padded
                                                  : size_of(d) * size_of(h) * size_of(w);
  const float average = divisor == 0 ? 0.0f : sum / static_cast<float>(divisor);
  store(work.y, offset_in(work.y, y, 5), work.maximum != 0 ? best.value : average);
  if (work.indices == nullptr) return;
  const long long plane = static_cast<long long>(y.along[0]) * work.channels + y.along[1];
  const long long volume = static_cast<long long>(work.in[0]) * work.in[1] * work.in[2];
  const long long inside =
      work.column_major != 0
          ? best.d + work.in[0] * (best.h + static_cast<long long>(work.in[1]) * best.w)
          : (best.d * static_cast<long long>(work.in[1]) + best.h) * work.in[2] + best.w;
  work.indices[index] = plane * volume + (best.found ? inside : -1);
}

extern "C" __global__ void millrace_lrn(const LrnWork work) {
  const unsigned index = thread_number();
  if (index >= work.count) return;
  const int inner = static_cast<int>(index % static_cast<unsigned>(work.inner));
  const unsigned rest = index / static_cast<unsigned>(work.inner);
  const int channel = static_cast<int>(rest % static_cast<unsigned>(work.channels));
  const long long frame = static_cast<long long>(rest / static_cast<unsigned>(work.channels)) *
                          work.channels * work.inner;
  const int before = (work.size - 1) / 2, after = work.size - 1 - before;
  const int first = channel - before < 0 ? 0 : channel - before;
  const int last = channel + after < work.channels ? channel + after : work.channels - 1;
  float sum = 0;
  for (int c = first; c <= last; ++c) {
    const float value = load(work.x, frame + static_cast<long long>(c) * work.inner + inner);
    sum += value * value;
  }
  const float share = work.alpha / static_cast<float>(work.size);
  const float value = load(work.x, index);
  store(work.y, index, value / powf(work.bias + share * sum, work.beta));
}

}  // namespace millrace::engine::cuda
