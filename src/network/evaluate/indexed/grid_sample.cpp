#include "network/evaluate/indexed/sample_taps.h"
#include "network/evaluate/loops.h"
#include "network/evaluate/types.h"

namespace millrace::network::loops {
namespace {

template <class T>
double sampled(const T* plane, std::int64_t width, const Taps& rows, const Taps& columns) {
  double sum = 0;
  for (std::size_t r = 0; r < static_cast<std::size_t>(rows.count); ++r)
    for (std::size_t c = 0; c < static_cast<std::size_t>(columns.count); ++c)
      if (rows.index[r] >= 0 && columns.index[c] >= 0)
        sum += rows.weight[r] * columns.weight[c] *
               static_cast<double>(plane[rows.index[r] * width + columns.index[c]]);
  return sum;
}

template <class T>
void grid_sample(const GridSample& op, Inputs in, const View& out) {
  const std::int64_t channels = in[0].shape[1], height = in[0].shape[2], width = in[0].shape[3];
  const std::int64_t points = out.shape[2] * out.shape[3];
  for (std::int64_t n = 0; n < out.shape[0]; ++n)
    for (std::int64_t p = 0; p < points; ++p) {
      const T* place = in[1].as<T>() + (n * points + p) * 2;
      const Taps columns = taps_of(op, width, static_cast<double>(place[0]));
      const Taps rows = taps_of(op, height, static_cast<double>(place[1]));
      for (std::int64_t c = 0; c < channels; ++c)
        out.as<T>()[(n * channels + c) * points + p] = static_cast<T>(
            sampled(in[0].as<T>() + (n * channels + c) * height * width, width, rows, columns));
    }
}

}  // namespace

void run(const GridSample& op, Inputs in, Outputs out) {
  visit_float(out[0].type, [&]<class T>(std::type_identity<T>) { grid_sample<T>(op, in, out[0]); });
}

}  // namespace millrace::network::loops
