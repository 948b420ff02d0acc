#pragma once
// Two arrays, element by element, with broadcasting.
#include "network/evaluate/loops.h"
#include "network/evaluate/walk.h"

namespace millrace::network::loops {

/// One row of the result. The innermost dimension of an operand is dense or one repeated value.
template <class R, class T, class U>
struct Row {
  R* to;
  const T* a;
  const U* b;
  std::int64_t size, a_step, b_step;
};

template <class R, class T, class U, class F>
void compute(const Row<R, T, U>& row, F f) {
  if (row.a_step != 0 && row.b_step != 0) {
    for (std::int64_t i = 0; i < row.size; ++i) row.to[i] = f(row.a[i], row.b[i]);
  } else if (row.a_step != 0) {
    const U b = *row.b;
    for (std::int64_t i = 0; i < row.size; ++i) row.to[i] = f(row.a[i], b);
  } else {
    const T a = *row.a;
    for (std::int64_t i = 0; i < row.size; ++i) row.to[i] = f(a, row.b[i]);
  }
}

/// f(element of the first input, of the second) for every element of the result, of type R.
template <class T, class U, class R = T, class F>
void broadcast_rows(Inputs in, const View& out, F f) {
  const Walk<3> walk = collapsed(
      Walk<3>{{out.shape.begin(), out.shape.end()},
              {broadcast_strides(out.shape, out.shape), broadcast_strides(in[0].shape, out.shape),
               broadcast_strides(in[1].shape, out.shape)}});
  for_each(walk, walk.rank() - 1, [&](const std::array<std::int64_t, 3>& at) {
    compute(Row<R, T, U>{out.as<R>() + at[0], in[0].as<T>() + at[1], in[1].as<U>() + at[2],
                         walk.shape.back(), walk.strides[1].back(), walk.strides[2].back()},
            f);
  });
}

}  // namespace millrace::network::loops
