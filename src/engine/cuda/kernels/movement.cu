// Elements to other positions, without looking at their values.
#include "engine/cuda/kernels/numbers.cuh"

namespace millrace::engine::cuda {

inline __device__ unsigned long long load_bits(const Place& place, long long offset, int bytes) {
  switch (bytes) {
    case 1: return at<unsigned char>(place, offset);
    case 2: return at<unsigned short>(place, offset);
    case 4: return at<unsigned>(place, offset);
    default: return at<unsigned long long>(place, offset);
  }
}
inline __device__ void store_bits(const Place& place, long long offset, int bytes,
                                  unsigned long long value) {
  switch (bytes) {
    case 1: at<unsigned char>(place, offset) = static_cast<unsigned char>(value); break;
    case 2: at<unsigned short>(place, offset) = static_cast<unsigned short>(value); break;
    case 4: at<unsigned>(place, offset) = static_cast<unsigned>(value); break;
    default: at<unsigned long long>(place, offset) = value;
  }
}

/// The position in an axis that a position before, in or after it is filled from.
inline __device__ int filled_from(int i, int size, int filling) {
  if (filling == fill_edge) return i < 0 ? 0 : i >= size ? size - 1 : i;
  if (filling == fill_wrapped) {
    const int rest = i % size;
    return rest < 0 ? rest + size : rest;
  }
  const int period = size == 1 ? 1 : 2 * size - 2;
  int rest = i % period;
  if (rest < 0) rest += period;
  return rest < size ? rest : period - rest;
}

extern "C" __global__ void millrace_move(const MoveWork work) {
  const unsigned index = thread_number();
  if (index >= work.count) return;
  Position position = position_of(index, work.dimensions, work.shape);
  const long long to = offset_in(work.out, position, work.dimensions);
  bool is_inside = true;
  if (work.pads != 0) {
#pragma unroll
    for (int d = 0; d < max_dimensions; ++d) {
      if (d >= work.dimensions) continue;
      const int i = position.along[d] - work.begin[d], size = work.in_shape[d];
      position.along[d] = i;
      if (i >= 0 && i < size) continue;
      if (work.filling == fill_value)
        is_inside = false;
      else
        position.along[d] = filled_from(i, size, work.filling);
    }
  }
  const unsigned long long value =
      is_inside ? load_bits(work.in, offset_in(work.in, position, work.dimensions), work.bytes)
                : work.value;
  store_bits(work.out, to, work.bytes, value);
}

extern "C" __global__ void millrace_concat(const ConcatWork work) {
  const unsigned index = thread_number();
  if (index >= work.count) return;
  const unsigned covered = static_cast<unsigned>(work.covered);
  const int outer = static_cast<int>(index / covered);
  const int at = work.first + static_cast<int>(index % covered);
  Place from{};
  long long offset = 0;
#pragma unroll
  for (int part = 0; part < max_parts; ++part) {
    const int inside = at - work.begins[part];
    if (part >= work.parts || inside < 0 || inside >= work.sizes[part]) continue;
    from.data = const_cast<void*>(work.from[part]);
    offset = static_cast<long long>(outer) * work.sizes[part] + inside;
  }
  store_bits(work.out, static_cast<long long>(outer) * work.row + at, work.bytes,
             load_bits(from, offset, work.bytes));
}

extern "C" __global__ void millrace_gather(const GatherWork work) {
  const unsigned index = thread_number();
  if (index >= work.count) return;
  const unsigned inner = static_cast<unsigned>(work.inner);
  const unsigned indices = static_cast<unsigned>(work.indices_count);
  const unsigned n = index % inner, i = index / inner % indices, o = index / inner / indices;
  long long from = load_integer(work.indices, i);
  if (from < 0) from += work.size;
  if (from < 0 || from >= work.size) {
    *work.fault = 1;
    return;
  }
  const long long offset = (static_cast<long long>(o) * work.size + from) * work.inner + n;
  store_bits(work.out, index, work.bytes, load_bits(work.data, offset, work.bytes));
}

extern "C" __global__ void millrace_select(const SelectWork work) {
  const unsigned index = thread_number();
  if (index >= work.count) return;
  const Position position = position_of(index, work.dimensions, work.shape);
  const bool first =
      at<unsigned char>(work.condition, offset_in(work.condition, position, work.dimensions)) != 0;
  const Place& from = first ? work.a : work.b;
  store_bits(work.out, offset_in(work.out, position, work.dimensions), work.bytes,
             load_bits(from, offset_in(from, position, work.dimensions), work.bytes));
}

}  // namespace millrace::engine::cuda
