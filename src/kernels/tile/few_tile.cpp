#include <algorithm>

#include "kernels/bend.h"
#include "kernels/plain/lanes.h"
#include "kernels/tile/slide_layout.h"
#include "kernels/tile/tile_windows.h"

namespace millrace::kernels {
namespace {

constexpr std::int64_t most_numbers = 8192;  // of a part of the input, in all channels
constexpr std::int64_t most_places = 2048;   // of a part of the output, in one channel
constexpr std::int64_t most_taps = 512;      // of a window in all channels
constexpr std::int64_t outputs_at_once = 4;

/// Outputs of a part that follow each other.
struct FewWork {
  const float* numbers;         // of the part's input
  const std::int64_t* offsets;  // where a window's positions lie in it, channel by channel
  std::int64_t depth;           // their number
  const float* weights;         // of the first output
  std::int64_t weight_stride;
  const float* bias;  // of the first output; null: none
  const TileCurve* curve;
  float* sums;  // most_places + slide_slack for each output
  std::int64_t count, outputs;
};

/// Sums that registers hold: of some outputs, each of some vectors of places. Each vector is copied
/// by itself: else compilers keep them in memory.
template <std::size_t lanes, std::size_t rows, std::size_t vectors>
[[gnu::always_inline]] inline void multiply_places(const FewWork& work, std::int64_t place) {
  using Vector = typename LanesOf<lanes>::Type;
  Vector sums[rows][vectors];
#pragma GCC unroll 8
  for (std::size_t r = 0; r < rows; ++r)
#pragma GCC unroll 8
    for (std::size_t v = 0; v < vectors; ++v)
      sums[r][v] = Vector{} + (work.bias ? work.bias[r] : 0.0f);
  for (std::int64_t k = 0; k < work.depth; ++k) {
    const float* const from = work.numbers + work.offsets[k] + place;
    Vector x[vectors];
#pragma GCC unroll 8
    for (std::size_t v = 0; v < vectors; ++v) read_lanes(x[v], from + v * lanes);
#pragma GCC unroll 8
    for (std::size_t r = 0; r < rows; ++r) {
      const float weight = work.weights[static_cast<std::int64_t>(r) * work.weight_stride + k];
#pragma GCC unroll 8
      for (std::size_t v = 0; v < vectors; ++v) sums[r][v] += weight * x[v];
    }
  }
#pragma GCC unroll 8
  for (std::size_t r = 0; r < rows; ++r)
#pragma GCC unroll 8
    for (std::size_t v = 0; v < vectors; ++v) {
      if (work.curve) bend(sums[r][v], *work.curve);
      __builtin_memcpy(work.sums + static_cast<std::int64_t>(r) * (most_places + slide_slack) +
                           place + static_cast<std::int64_t>(v * lanes),
                       &sums[r][v], sizeof sums[r][v]);
    }
}

struct FewProduct {
  const FewWork& work;

  /// AVX-512 has twice the registers of SSE2 and AVX2; NEON has too.
  template <std::size_t lanes>
  [[gnu::always_inline]] void run() {
#if defined(__aarch64__)
    constexpr std::size_t sums = 16;
#else
    constexpr std::size_t sums = lanes == lane_count ? 16 : 8;
#endif
    if (work.outputs == 4) return multiply<lanes, 4, sums / 4>();
    if (work.outputs == 3) return multiply<lanes, 3, 2>();
    if (work.outputs == 2) return multiply<lanes, 2, 4>();
    multiply<lanes, 1, 4>();
  }

 private:
  /// Also some places beyond the last, to fill a vector.
  template <std::size_t lanes, std::size_t rows, std::size_t vectors>
  [[gnu::always_inline]] void multiply() {
    constexpr auto width = static_cast<std::int64_t>(lanes * vectors);
    static_assert(static_cast<std::int64_t>(lanes) <= slide_slack);
    std::int64_t i = 0;
    for (; i + width <= work.count; i += width) multiply_places<lanes, rows, vectors>(work, i);
    for (; i < work.count; i += lanes) multiply_places<lanes, rows, 1>(work, i);
  }
};

/// One after the other the parts of the output whose input fits on the stack.
class FewTile {
 public:
  FewTile(const TileConvolution& convolution, const TileTensors& tensors)
      : c_(convolution), t_(tensors), source_{c_.input, c_.windows, 0} {
    part_.columns = c_.output.columns;
    while (part_.columns > 1 && !fits(1)) part_.columns = (part_.columns + 1) / 2;
    part_.rows = fits(1) ? most_rows() : 1;
  }

  /// Else its windows are too large.
  bool is_possible() const { return fits(part_.rows) && depth() <= most_taps; }

  void run() {
    for (std::int64_t row = 0; row < c_.output.rows; row += part_.rows)
      for (std::int64_t column = 0; column < c_.output.columns; column += part_.columns)
        run_part({row, column, std::min(part_.rows, c_.output.rows - row),
                  std::min(part_.columns, c_.output.columns - column)});
  }

 private:
  std::int64_t taps() const { return c_.windows.kernel[0] * c_.windows.kernel[1]; }
  std::int64_t depth() const { return taps() * c_.input.channels; }
  bool fits(std::int64_t rows) const {
    const SlideLayout layout = layout_of(c_.windows, rows, part_.columns);
    return layout.size() * c_.input.channels <= most_numbers && rows * layout.pitch <= most_places;
  }

  /// The most rows of the output, with these columns.
  std::int64_t most_rows() const {
    const SlideLayout one = layout_of(c_.windows, 1, part_.columns);
    const std::int64_t row = one.size() / one.rows * c_.input.channels;  // of all phases
    return std::min({c_.output.rows, most_places / one.pitch, most_numbers / row - one.rows + 1});
  }

  void run_part(const SlidePart& part) {
    const SlideLayout layout = layout_of(c_.windows, part.rows, part.columns);
    write_taps(c_.windows, layout, offsets_);
    for (std::int64_t i = taps(); i < depth(); ++i)
      offsets_[i] = offsets_[i - taps()] + layout.size();
    for (std::int64_t channel = 0; channel < c_.input.channels; ++channel)
      SlideFill{source_, layout, part}.fill(t_.input + channel * c_.input.channel_stride,
                                            numbers_ + channel * layout.size());
    // Read for places beyond the last.
    std::fill_n(numbers_ + c_.input.channels * layout.size(), slide_slack, 0.0f);
    for (std::int64_t first = 0; first < c_.output.channels; first += outputs_at_once) {
      const std::int64_t outputs = std::min(outputs_at_once, c_.output.channels - first);
      run_in_lanes(FewProduct{{numbers_, offsets_, depth(), t_.weights + first * c_.weight_stride,
                               c_.weight_stride, t_.bias ? t_.bias + first : nullptr, c_.curve,
                               sums_, (part.rows - 1) * layout.pitch + part.columns, outputs}});
      for (std::int64_t m = 0; m < outputs; ++m) give(part, layout, m, first + m);
    }
  }

  void give(const SlidePart& part, const SlideLayout& layout, std::int64_t from,
            std::int64_t channel) const {
    const float* const sums = sums_ + from * (most_places + slide_slack);
    float* const to = t_.output + channel * c_.output.channel_stride + part.column;
    for (std::int64_t r = 0; r < part.rows; ++r)
      std::copy_n(sums + r * layout.pitch, part.columns,
                  to + (part.row + r) * c_.output.row_stride);
  }

  const TileConvolution& c_;
  const TileTensors& t_;
  const SlideSource source_;
  SlidePart part_;
  std::int64_t offsets_[most_taps];
  alignas(64) float numbers_[most_numbers + slide_slack];
  alignas(64) float sums_[outputs_at_once * (most_places + slide_slack)];
};

}  // namespace

void convolve_few(const TileConvolution& c, const TileTensors& t) {
  FewTile tile(c, t);
  tile.is_possible() ? tile.run() : convolve_tile(c, t);
}

}  // namespace millrace::kernels
