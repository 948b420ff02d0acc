#pragma once
// Inside direct_convolution.h: how its work is cut, and rows times panels of weights.
#include <algorithm>
#include <cstddef>

#include "kernels/bend.h"
#include "kernels/direct/direct_convolution.h"
#include "kernels/direct/direct_sums.h"

namespace millrace::kernels {

inline constexpr std::size_t window_numbers = 16384;  // that lie side by side at once
inline constexpr std::size_t most_depth = 384;        // of these of one pixel
inline constexpr std::size_t most_pixels = 256;       // at once
inline constexpr std::size_t chunk_outputs = 128;     // at once, or up to twice as many
inline constexpr std::size_t kept_numbers = 8192;     // of sums that do not lie in the result

/// How the work is cut. A task has some pixels and some panels of a group. It goes through the
/// depth of the sums in steps, so that what is multiplied stays in the caches.
struct DirectTasks {
  explicit DirectTasks(const DirectConvolution& c)
      : panel(2 * c.lanes),
        panels(divided_up(c.outputs_of_group(), panel)),
        depth(round_up(c.taps() * c.channels_of_group(), 4)),
        steps(divided_up(depth, most_depth)),
        step(round_up(divided_up(depth, steps), 4)),
        chunks(std::max<std::size_t>(panels * panel / chunk_outputs, 1)) {
    const std::size_t width = divided_up(panels, chunks) * panel;
    const std::size_t kept = keeps_all(c) ? kept_numbers / width : most_pixels;
    const std::size_t fit = std::min({window_numbers / step, most_pixels, kept});
    blocks = divided_up(c.pixels(), fit);
    pixels = divided_up(c.pixels(), blocks);
  }
  std::size_t count(const DirectConvolution& c) const { return c.groups * blocks * chunks; }
  /// The result has what is added when all is done: sums wait elsewhere.
  bool keeps_all(const DirectConvolution& c) const { return c.adds_last && steps > 1; }

  std::size_t panel, panels;       // outputs of a panel; panels of a group
  std::size_t depth, steps, step;  // numbers of a window, and of a step
  std::size_t chunks;              // of the panels
  std::size_t blocks, pixels;      // of the images; pixels of a block
};

/// Some rows by some panels.
struct RowsByPanels {
  PanelRows rows;      // of the first panel
  std::size_t count;   // of the rows
  std::size_t depth;   // of a panel
  std::size_t panels;

  template <std::size_t lanes>
  [[gnu::always_inline]] void run() {
    constexpr std::size_t panel = 2 * lanes;
    for (; panels > 0; --panels) {
      run_panel<lanes>();
      rows.with += depth * panel;
      rows.bias += rows.bias ? panel : 0;
      rows.before += rows.before ? panel : 0;
      rows.to += panel;
    }
  }

 private:
  /// In pieces of about as many rows each: first those that have one more.
  template <std::size_t lanes>
  [[gnu::always_inline]] void run_panel() const {
    constexpr std::size_t most = rows_at_once<lanes>();
    const std::size_t pieces = divided_up(count, most);
    const std::size_t each = count / pieces, larger = count % pieces;
    PanelRows piece = rows;
    run_pieces<lanes, most>(piece, each + 1, larger);
    const std::size_t done = larger * (each + 1);
    piece.from += done * rows.from_stride;
    piece.before += rows.before ? done * rows.before_stride : 0;
    piece.to += done * rows.to_stride;
    run_pieces<lanes, most>(piece, each, pieces - larger);
  }

  template <std::size_t lanes, std::size_t number>
  [[gnu::always_inline]] static void run_pieces(const PanelRows& piece, std::size_t some,
                                                std::size_t times) {
    if constexpr (number > 0) {
      if (some == number)
        DirectSums<lanes, number>::multiply(piece, times);
      else
        run_pieces<lanes, number - 1>(piece, some, times);
    }
  }
};

/// Sums become results.
struct FinishKept {
  const DirectConvolution& c;
  const float *sums, *bias;  // bias: null: none
  std::size_t sum_stride;
  float* to;  // of the first pixel
  std::size_t pixels, outputs;

  template <std::size_t lanes>
  [[gnu::always_inline]] void run() const {
    using Vector = typename LanesOf<lanes>::Type;
    for (std::size_t r = 0; r < pixels; ++r)
      for_each_vector<lanes>(outputs, [&](std::size_t i, std::size_t some)
                                          __attribute__((always_inline)) {
        float* const at = to + r * c.outputs + i;
        Vector x = {}, more = {}, added = {};
        read_first(x, sums + r * sum_stride + i, some);
        if (bias) read_first(more, bias + i, some);
        if (c.adds) read_first(added, at, some);
        write_first(at, finished<Vector>(x + more, added, c), some);
      });
  }
};

}  // namespace millrace::kernels
