#include <algorithm>

#include "network/evaluate/loops.h"
#include "network/evaluate/sliding.h"
#include "network/evaluate/types.h"

namespace millrace::network::loops {
namespace {

/// ceil(a / b) for b > 0.
std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return a >= 0 ? (a + b - 1) / b : -(-a / b);
}

/// Output positions base + i * stride of the inputs i that reach the output from one position of
/// the kernel.
struct Reach {
  std::int64_t base, stride, first, last;
};

Reach reach(const Sliding& s, std::size_t d, std::int64_t kernel) {
  const std::int64_t base = kernel * s.dilations[d] - s.begin[d];
  return {base, s.strides[d], std::max<std::int64_t>(0, ceil_div(-base, s.strides[d])),
          std::min(s.in[d], ceil_div(s.out[d] - base, s.strides[d]))};
}

/// Adds one channel of the input, times one weight, into one channel of the output.
template <class T>
void scatter(const Sliding& s, const Three& kernel, T weight, std::pair<const T*, T*> planes) {
  const std::array<Reach, 3> r{reach(s, 0, kernel[0]), reach(s, 1, kernel[1]),
                               reach(s, 2, kernel[2])};
  for (std::int64_t d = r[0].first; d < r[0].last; ++d)
    for (std::int64_t h = r[1].first; h < r[1].last; ++h) {
      const T* x = planes.first + (d * s.in[1] + h) * s.in[2];
      T* y = planes.second + r[2].base +
             ((r[0].base + d * r[0].stride) * s.out[1] + r[1].base + h * r[1].stride) * s.out[2];
      for (std::int64_t w = r[2].first; w < r[2].last; ++w) y[w * r[2].stride] += weight * x[w];
    }
}

template <class T>
void conv_transpose(const ConvTranspose& op, Inputs in, const View& out) {
  const Sliding s = sliding(op.window, in[0].shape, out.shape);
  const std::int64_t images = out.shape[0], filters = out.shape[1], channels = in[0].shape[1];
  const std::int64_t group_filters = filters / op.groups, group_channels = channels / op.groups;
  const std::int64_t kernel = volume(s.kernel);
  const ConstView bias = optional_input(in, 2);
  for (std::int64_t i = 0; i < images * filters; ++i) {
    T* y = out.as<T>() + i * volume(s.out);
    const std::int64_t filter = i % filters, group = filter / group_filters;
    std::fill_n(y, volume(s.out), bias.present() ? bias.as<T>()[filter] : T{});
    for (std::int64_t j = 0; j < group_channels * kernel; ++j) {
      const std::int64_t c = group * group_channels + j / kernel;
      const T* w = in[1].as<T>() + (c * group_filters + filter % group_filters) * kernel;
      const T* x = in[0].as<T>() + (i / filters * channels + c) * volume(s.in);
      scatter<T>(s, position(j % kernel, s.kernel), w[j % kernel], {x, y});
    }
  }
}

}  // namespace

void run(const ConvTranspose& op, Inputs in, Outputs out) {
  visit_float(out[0].type,
              [&]<class T>(std::type_identity<T>) { conv_transpose<T>(op, in, out[0]); });
}

}  // namespace millrace::network::loops
