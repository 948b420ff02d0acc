// BatchNormalization and LRN.
#include <algorithm>
#include <cmath>

#include "network/evaluate/loops.h"
#include "network/evaluate/types.h"

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

}  // namespace

void run(const BatchNormalization& op, Inputs in, Outputs out) {
  visit_float(out[0].type,
              [&]<class T>(std::type_identity<T>) { batch_normalization<T>(op, in, out[0]); });
}

void run(const Lrn& op, Inputs in, Outputs out) {
  visit_float(out[0].type, [&]<class T>(std::type_identity<T>) { lrn<T>(op, in[0], out[0]); });
}

}  // namespace millrace::network::loops
