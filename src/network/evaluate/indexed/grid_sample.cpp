#include <algorithm>
#include <cmath>

#include "network/evaluate/loops.h"
#include "network/evaluate/types.h"

namespace millrace::network::loops {
namespace {

constexpr double far_away = 1e9;

/// Positions along one dimension.
struct Line {
  const GridSample& op;
  std::int64_t size;

  double last() const { return static_cast<double>(size - 1); }
  /// From [-1, 1] to elements. What is no number lies outside.
  double position(double coordinate) const {
    const double at = op.align_corners ? (coordinate + 1) / 2 * last()
                                       : ((coordinate + 1) * static_cast<double>(size) - 1) / 2;
    return std::isnan(at) ? -far_away : std::clamp(at, -far_away, far_away);
  }
  double reflected(double at) const {
    const double low = op.align_corners ? 0 : -0.5;
    const double span = op.align_corners ? last() : static_cast<double>(size);
    if (span <= 0) return 0;
    const double beyond = std::fabs(at - low);
    const double rest = std::fmod(beyond, span);
    const bool turned = std::fmod(std::floor(beyond / span), 2) != 0;
    return std::clamp(turned ? low + span - rest : low + rest, 0.0, last());
  }
  /// Where the position is looked up.
  double padded(double at) const {
    if (op.padding == SamplePadding::border) return std::clamp(at, 0.0, last());
    return op.padding == SamplePadding::reflection ? reflected(at) : at;
  }
};

/// Up to four elements of a line, each with its weight. Those outside have the index -1.
struct Taps {
  int count = 0;
  std::array<std::int64_t, 4> index{};
  std::array<double, 4> weight{};

  void add(const Line& line, double at, double its_weight) {
    const bool inside = at >= 0 && at <= line.last();
    index[static_cast<std::size_t>(count)] = inside ? static_cast<std::int64_t>(at) : -1;
    weight[static_cast<std::size_t>(count++)] = its_weight;
  }
};

double cubic_weight(double distance) {
  constexpr double a = -0.75;
  const double d = std::fabs(distance);
  if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

Taps taps_of(const Line& line, double coordinate) {
  const double at = line.position(coordinate);
  Taps taps;
  if (line.op.mode == SampleMode::nearest) {
    taps.add(line, std::nearbyint(line.padded(at)), 1);
    return taps;
  }
  if (line.op.mode == SampleMode::linear) {
    const double place = line.padded(at), base = std::floor(place);
    taps.add(line, base, 1 - (place - base));
    taps.add(line, base + 1, place - base);
    return taps;
  }
  const double base = std::floor(at);
  for (int i = -1; i <= 2; ++i)
    taps.add(line, std::nearbyint(line.padded(base + i)), cubic_weight(at - base - i));
  return taps;
}

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
      const Taps columns = taps_of({op, width}, static_cast<double>(place[0]));
      const Taps rows = taps_of({op, height}, static_cast<double>(place[1]));
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
