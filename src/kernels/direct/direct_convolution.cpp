#include "kernels/direct/direct_convolution.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/bend.h"
#include "kernels/direct/depthwise.h"
#include "kernels/direct/direct_sums.h"
#include "kernels/direct/window_rows.h"

namespace millrace::kernels {
namespace {

constexpr std::size_t window_numbers = 16384;  // that lie side by side at once
constexpr std::size_t most_depth = 384;        // of these of one pixel
constexpr std::size_t most_pixels = 256;       // at once
constexpr std::size_t chunk_outputs = 128;     // at once, or up to twice as many
constexpr std::size_t kept_numbers = 8192;     // of sums that do not lie in the result

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
    using Vector = LanesOf<lanes>::Type;
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

class DirectTask {
 public:
  DirectTask(const DirectConvolution& c, const DirectTasks& tasks, const DirectOperands& o)
      : c_(c), t_(tasks), o_(o) {}

  void run(std::size_t index) {
    const std::size_t chunk = index % t_.chunks, block = index / t_.chunks % t_.blocks;
    group_ = index / t_.chunks / t_.blocks;
    first_pixel_ = t_.pixels * block;
    pixels_ = std::min(t_.pixels, c_.pixels() - first_pixel_);
    const std::size_t first = t_.panels * chunk / t_.chunks;
    const std::size_t last = t_.panels * (chunk + 1) / t_.chunks;
    const bool is_narrow = last * t_.panel > c_.outputs_of_group();
    first_kept_ = t_.keeps_all(c_) ? first : is_narrow ? last - 1 : last;
    const WindowRows<float> windows(c_, o_.source, group_);
    for (std::size_t step = 0; step < t_.steps; ++step) multiply(windows, step, {first, last});
    if (first_kept_ < last) finish({first_kept_, last});
  }

 private:
  struct Panels {
    std::size_t first, last;
  };

  void multiply(const WindowRows<float>& windows, std::size_t step, const Panels& panels) {
    const std::size_t begin = step * t_.step, end = std::min(begin + t_.step, t_.depth);
    PanelRows rows = {};
    rows.depth = end - begin;
    rows.from = windows.are_pixels() ? windows.pixel(first_pixel_) + begin : windows_;
    rows.from_stride = windows.are_pixels() ? c_.channels : t_.step;
    if (!windows.are_pixels()) put_side_by_side(windows, begin, end);
    rows.end = end == t_.depth ? end_of(c_) : SumsEnd::more_follows;
    rows.convolution = &c_;
    add_to_result(rows, begin, {panels.first, first_kept_});
    add_to_kept(rows, begin, {first_kept_, panels.last});
  }

  void put_side_by_side(const WindowRows<float>& windows, std::size_t begin, std::size_t end) {
    const std::size_t filled = std::min(end, windows.depth());
    ResultPixel pixel = pixel_at(c_, first_pixel_);
    float* to = windows_;
    for (std::size_t i = 0; i < pixels_; ++i, pixel = next(c_, pixel), to += t_.step) {
      if (t_.steps == 1)
        windows.copy(pixel, to);
      else
        windows.copy(pixel, begin, filled, to);
      for (std::size_t k = filled; k < end; ++k) to[k - begin] = 0;
    }
  }

  void add_to_result(PanelRows rows, std::size_t begin, const Panels& panels) {
    const std::size_t first = group_ * c_.outputs_of_group() + panels.first * t_.panel;
    rows.to = o_.result + first_pixel_ * c_.outputs + first;
    rows.to_stride = rows.before_stride = c_.outputs;
    if (begin == 0 && o_.bias) rows.bias = o_.bias + first;
    if (begin > 0 || (c_.adds && !c_.adds_last)) rows.before = rows.to;
    run(rows, begin, panels);
  }

  void add_to_kept(PanelRows rows, std::size_t begin, const Panels& panels) {
    rows.to = kept_;
    rows.to_stride = rows.before_stride = (panels.last - panels.first) * t_.panel;
    if (begin > 0) rows.before = kept_;
    rows.end = SumsEnd::more_follows;
    run(rows, begin, panels);
  }

  void run(PanelRows& rows, std::size_t begin, const Panels& panels) const {
    const std::size_t panel = group_ * t_.panels + panels.first;
    rows.with = o_.weights + (panel * t_.depth + begin) * t_.panel;
    run_in(c_.lanes, RowsByPanels{rows, pixels_, t_.depth, panels.last - panels.first});
  }

  void finish(const Panels& panels) const {
    const std::size_t in_group = panels.first * t_.panel;
    const std::size_t first = group_ * c_.outputs_of_group() + in_group;
    const std::size_t width = (panels.last - panels.first) * t_.panel;
    run_in(c_.lanes, FinishKept{c_, kept_, o_.bias ? o_.bias + first : nullptr, width,
                            o_.result + first_pixel_ * c_.outputs + first, pixels_,
                            std::min(width, c_.outputs_of_group() - in_group)});
  }

  const DirectConvolution& c_;
  const DirectTasks& t_;
  const DirectOperands& o_;
  std::size_t group_ = 0, first_pixel_ = 0, pixels_ = 0, first_kept_ = 0;
  alignas(64) float windows_[window_numbers];
  alignas(64) float kept_[kept_numbers];
};

void pack_panels(const DirectConvolution& c, std::span<const float> weights, float* packed) {
  const DirectTasks tasks(c);
  const std::size_t taps = c.taps(), channels = c.channels_of_group();
  for (std::size_t output = 0; output < c.outputs; ++output) {
    const std::size_t in_group = output % c.outputs_of_group();
    const std::size_t panel = output / c.outputs_of_group() * tasks.panels + in_group / tasks.panel;
    float* const to = packed + panel * tasks.depth * tasks.panel + in_group % tasks.panel;
    for (std::size_t tap = 0; tap < taps; ++tap)
      for (std::size_t i = 0; i < channels; ++i)
        to[(tap * channels + i) * tasks.panel] = weights[(output * channels + i) * taps + tap];
  }
}

}  // namespace

std::size_t packed_size(const DirectConvolution& c) {
  if (is_depthwise(c)) return depthwise_weights(c) * sizeof(float);
  const DirectTasks tasks(c);
  return c.groups * tasks.panels * tasks.depth * tasks.panel * sizeof(float);
}

std::string form_of_weights(const DirectConvolution& c) {
  return fmt::format("direct 1 {} {} {} {} {}", c.lanes, c.outputs, c.channels, c.groups, c.taps());
}

void pack_weights(const DirectConvolution& c, std::span<const float> weights,
                  std::span<std::byte> to) {
  std::fill(to.begin(), to.end(), std::byte{0});
  auto* const packed = reinterpret_cast<float*>(to.data());
  is_depthwise(c) ? pack_depthwise(c, weights, packed) : pack_panels(c, weights, packed);
}

void convolve(const DirectConvolution& c, const DirectOperands& operands) {
  if (is_depthwise(c)) return convolve_depthwise(c, operands);
  const DirectTasks tasks(c);
  const auto count = static_cast<std::ptrdiff_t>(tasks.count(c));
#if defined(_OPENMP)
#pragma omp parallel for schedule(static) if (count > 1)
#endif
  for (std::ptrdiff_t i = 0; i < count; ++i)
    DirectTask(c, tasks, operands).run(static_cast<std::size_t>(i));
}

}  // namespace millrace::kernels
