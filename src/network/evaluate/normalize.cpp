// BatchNormalization, Normalization and LRN.
#include <algorithm>
#include <cmath>

#include "network/evaluate/loops.h"
#include "network/evaluate/types.h"
#include "network/evaluate/walk.h"

namespace millrace::network::loops {
namespace {

template <class T>
void batch_normalization(const BatchNormalization& op, Inputs in, const View& out) {
  const std::int64_t channels = out.shape.size() > 1 ? out.shape[1] : 1;
  const std::int64_t images = out.shape[0];
  const std::int64_t plane = out.shape.size() > 1 ? count(out.shape, 2, out.shape.size()) : 1;
  const T *scale = in[1].as<T>(), *bias = in[2].as<T>(), *mean = in[3].as<T>(),
          *variance = in[4].as<T>();
  for (std::int64_t i = 0; i < images * channels; ++i) {
    const std::int64_t c = i % channels;
    const T factor = scale[c] / std::sqrt(variance[c] + static_cast<T>(op.epsilon));
    const T *x = in[0].as<T>() + i * plane;
    T* y = out.as<T>() + i * plane;
    for (std::int64_t p = 0; p < plane; ++p) y[p] = (x[p] - mean[c]) * factor + bias[c];
  }
}

template <class T>
void lrn(const Lrn& op, const ConstView& in, const View& out) {
  const AroundAxis axis = around(out.shape, 1);
  const std::int64_t before = (op.size - 1) / 2, after = op.size - 1 - before;
  const T share = static_cast<T>(op.alpha) / static_cast<T>(op.size);
  std::vector<T> sums(static_cast<std::size_t>(axis.inner));
  for (std::int64_t i = 0; i < axis.outer * axis.size; ++i) {
    const std::int64_t c = i % axis.size;
    const T* x = in.as<T>() + (i - c) * axis.inner;
    std::fill(sums.begin(), sums.end(), T{});
    for (std::int64_t n = std::max<std::int64_t>(0, c - before);
         n <= std::min(axis.size - 1, c + after); ++n)
      std::transform(sums.begin(), sums.end(), x + n * axis.inner, sums.begin(),
                     [](T sum, T value) { return sum + value * value; });
    std::transform(sums.begin(), sums.end(), x + c * axis.inner, out.as<T>() + i * axis.inner,
                   [&](T sum, T value) {
                     return value / std::pow(static_cast<T>(op.bias) + share * sum,
                                             static_cast<T>(op.beta));
                   });
  }
}

/// What one row is shifted and multiplied by.
template <class T>
struct Moments {
  T mean{}, factor{};
};

template <class T>
Moments<T> moments(const Normalization& op, const T* x, std::int64_t size) {
  T sum{}, squares{};
  if (op.centred)
    for (std::int64_t i = 0; i < size; ++i) sum += x[i];
  const T mean = sum / static_cast<T>(size);
  for (std::int64_t i = 0; i < size; ++i) squares += (x[i] - mean) * (x[i] - mean);
  return {mean, T{1} / std::sqrt(squares / static_cast<T>(size) + static_cast<T>(op.epsilon))};
}

/// out = f(out, values), where the values spread over the output.
template <class T, class F>
void spread(const ConstView& values, const View& out, F f) {
  if (!values.present()) return;
  const Walk<2> walk = collapsed(Walk<2>{
      {out.shape.begin(), out.shape.end()},
      {broadcast_strides(out.shape, out.shape), broadcast_strides(values.shape, out.shape)}});
  for_each(walk, walk.rank() - 1, [&](const std::array<std::int64_t, 2>& at) {
    T* y = out.as<T>() + at[0];
    const T* v = values.as<T>() + at[1];
    for (std::int64_t i = 0; i < walk.shape.back(); ++i)
      y[i] = f(y[i], v[i * walk.strides[1].back()]);
  });
}

template <class T>
void normalization(const Normalization& op, Inputs in, Outputs out) {
  const auto axis = static_cast<std::size_t>(op.axis);
  const std::int64_t rows = count(in[0].shape, 0, axis);
  const std::int64_t size = count(in[0].shape, axis, in[0].shape.size());
  const auto write = [&](std::size_t output, std::int64_t row, T value) {
    if (output < out.size() && out[output].present()) out[output].as<T>()[row] = value;
  };
  for (std::int64_t row = 0; row < rows; ++row) {
    const T* x = in[0].as<T>() + row * size;
    T* y = out[0].as<T>() + row * size;
    const Moments<T> m = moments(op, x, size);
    for (std::int64_t i = 0; i < size; ++i) y[i] = (x[i] - m.mean) * m.factor;
    write(1, row, m.mean);
    write(2, row, m.factor);
  }
  spread<T>(optional_input(in, 1), out[0], [](T y, T scale) { return y * scale; });
  spread<T>(optional_input(in, 2), out[0], [](T y, T bias) { return y + bias; });
}

}  // namespace

void run(const Normalization& op, Inputs in, Outputs out) {
  visit_float(out[0].type, [&]<class T>(std::type_identity<T>) { normalization<T>(op, in, out); });
}

void run(const BatchNormalization& op, Inputs in, Outputs out) {
  visit_float(out[0].type,
              [&]<class T>(std::type_identity<T>) { batch_normalization<T>(op, in, out[0]); });
}

void run(const Lrn& op, Inputs in, Outputs out) {
  visit_float(out[0].type, [&]<class T>(std::type_identity<T>) { lrn<T>(op, in[0], out[0]); });
}

}  // namespace millrace::network::loops
