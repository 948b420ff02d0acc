// Over all elements of a row: sums, softmax, normalisation, positions of extremes.
#include "engine/cuda/kernels/functions.cuh"

namespace millrace::engine::cuda {

inline __device__ float nothing_of(int reduction) {
  if (reduction == reduction_prod) return 1;
  if (reduction == reduction_min) return infinity();
  return reduction == reduction_max ? -infinity() : 0.0f;
}
/// What is not a number wins.
inline __device__ float joined(int reduction, float a, float b) {
  switch (reduction) {
    case reduction_prod: return a * b;
    case reduction_min: return b < a || is_nan(b) ? b : a;
    case reduction_max: return b > a || is_nan(b) ? b : a;
    default: return a + b;
  }
}
inline __device__ float term_of(int reduction, float x) {
  if (reduction == reduction_l1) return fabsf(x);
  return reduction == reduction_l2 || reduction == reduction_sum_square ? x * x : x;
}

/// Of all threads of the block; `shared` has threads_per_block numbers.
inline __device__ float joined_in_block(int reduction, float value, float* shared) {
  const unsigned thread = threadIdx.x;
  __syncthreads();
  shared[thread] = value;
  __syncthreads();
  for (unsigned step = threads_per_block / 2; step > 0; step /= 2) {
    if (thread < step) shared[thread] = joined(reduction, shared[thread], shared[thread + step]);
    __syncthreads();
  }
  return shared[0];
}

inline __device__ long long begin_of(const ReduceWork& work, unsigned output) {
  const Position kept = position_of(output, work.kept_dimensions, work.kept);
  return offset_in(work.kept_strides, kept, work.kept_dimensions);
}
inline __device__ float element_of(const ReduceWork& work, long long begin, unsigned i) {
  const Position reduced = position_of(i, work.reduced_dimensions, work.reduced);
  return load(work.x, begin + offset_in(work.reduced_strides, reduced, work.reduced_dimensions));
}

/// What a thread sums: every `step`th element, from `first` on.
struct Steps {
  unsigned first, step;
};
inline __device__ float partly_reduced(const ReduceWork& work, int reduction, long long begin,
                                       const Steps& steps) {
  float result = nothing_of(reduction);
  for (unsigned i = steps.first; i < work.size; i += steps.step)
    result = joined(reduction, result, term_of(reduction, element_of(work, begin, i)));
  return result;
}
inline __device__ float powers(const ReduceWork& work, float base, long long begin,
                               const Steps& steps) {
  float sum = 0;
  for (unsigned i = steps.first; i < work.size; i += steps.step)
    sum += expf(element_of(work, begin, i) - base);
  return sum;
}
inline __device__ float reduced_to(const ReduceWork& work, float value) {
  switch (work.reduction) {
    case reduction_mean: return value / static_cast<float>(work.size);
    case reduction_l2: return sqrtf(value);
    case reduction_log_sum: return logf(value);
    default: return value;
  }
}
/// So that no power overflows.
inline __device__ float base_of(float largest) {
  return largest - largest == 0 ? largest : 0.0f;
}

/// A block for each output.
extern "C" __global__ void millrace_reduce(const ReduceWork work) {
  __shared__ float shared[threads_per_block];
  const long long begin = begin_of(work, blockIdx.x);
  const Steps steps{threadIdx.x, threads_per_block};
  const bool is_exponential = work.reduction == reduction_log_sum_exp;
  const int reduction = is_exponential ? reduction_max : work.reduction;
  float value = joined_in_block(reduction, partly_reduced(work, reduction, begin, steps), shared);
  if (is_exponential) {
    const float base = base_of(value);
    value = logf(joined_in_block(reduction_sum, powers(work, base, begin, steps), shared)) + base;
  }
  if (threadIdx.x == 0) store(work.y, blockIdx.x, reduced_to(work, value));
}

/// A thread for each output.
extern "C" __global__ void millrace_reduce_few(const ReduceWork work) {
  const unsigned output = thread_number();
  if (output >= work.outputs) return;
  const long long begin = begin_of(work, output);
  const Steps all{0, 1};
  const bool is_exponential = work.reduction == reduction_log_sum_exp;
  float value = partly_reduced(work, is_exponential ? reduction_max : work.reduction, begin, all);
  if (is_exponential) {
    const float base = base_of(value);
    value = logf(powers(work, base, begin, all)) + base;
  }
  store(work.y, output, reduced_to(work, value));
}

/// Of the row that the block works on.
inline __device__ long long row_begin(const RowWork& work) {
  const long long outer = blockIdx.x / static_cast<unsigned>(work.inner);
  return outer * work.length * work.inner + blockIdx.x % static_cast<unsigned>(work.inner);
}

extern "C" __global__ void millrace_softmax(const RowWork work) {
  __shared__ float shared[threads_per_block];
  const long long begin = row_begin(work), step = work.inner;
  float largest = -infinity(), sum = 0;
  for (int i = static_cast<int>(threadIdx.x); i < work.length; i += threads_per_block)
    largest = joined(reduction_max, largest, load(work.x, begin + i * step));
  largest = joined_in_block(reduction_max, largest, shared);
  for (int i = static_cast<int>(threadIdx.x); i < work.length; i += threads_per_block)
    sum += expf(load(work.x, begin + i * step) - largest);
  sum = joined_in_block(reduction_sum, sum, shared);
  const float logarithm = logf(sum);
  for (int i = static_cast<int>(threadIdx.x); i < work.length; i += threads_per_block) {
    const float value = load(work.x, begin + i * step) - largest;
    store(work.y, begin + i * step, work.logarithm != 0 ? value - logarithm : expf(value) / sum);
  }
}

extern "C" __global__ void millrace_normalize(const RowWork work) {
  __shared__ float shared[threads_per_block];
  const long long begin = row_begin(work), step = work.inner;
  const float length = static_cast<float>(work.length);
  float sum = 0, squares = 0;
  for (int i = static_cast<int>(threadIdx.x); i < work.length && work.centred != 0;
       i += threads_per_block)
    sum += load(work.x, begin + i * step);
  const float mean = joined_in_block(reduction_sum, sum, shared) / length;
  for (int i = static_cast<int>(threadIdx.x); i < work.length; i += threads_per_block) {
    const float difference = load(work.x, begin + i * step) - mean;
    squares += difference * difference;
  }
  squares = joined_in_block(reduction_sum, squares, shared);
  const float factor = 1.0f / sqrtf(squares / length + work.epsilon);
  const int outer = static_cast<int>(blockIdx.x / static_cast<unsigned>(work.inner));
  for (int i = static_cast<int>(threadIdx.x); i < work.length; i += threads_per_block) {
    float value = (load(work.x, begin + i * step) - mean) * factor;
    const Position at{{i, outer, 0, 0, 0, 0, 0, 0}};
    if (work.scale.data != nullptr) value *= load(work.scale, offset_in(work.scale, at, 2));
    if (work.shift.data != nullptr) value += load(work.shift, offset_in(work.shift, at, 2));
    store(work.y, begin + i * step, value);
  }
  if (threadIdx.x != 0) return;
  if (work.mean != nullptr) work.mean[blockIdx.x] = mean;
  if (work.deviation != nullptr) work.deviation[blockIdx.x] = factor;
}

extern "C" __global__ void millrace_arg(const ArgWork work) {
  const unsigned index = thread_number();
  if (index >= work.count) return;
  const unsigned inner = static_cast<unsigned>(work.inner);
  const long long begin =
      static_cast<long long>(index / inner) * work.length * work.inner + index % inner;
  long long best = 0;
  float now = load(work.x, begin);
  for (long long i = 1; i < work.length; ++i) {
    const float value = load(work.x, begin + i * work.inner);
    const bool is_better = work.smallest != 0 ? value < now : value > now;
    if (!is_better && !(work.select_last != 0 && value == now)) continue;
    best = i;
    now = value;
  }
  work.y[index] = best;
}

}  // namespace millrace::engine::cuda
