#include "kernels/direct/tap_by_tap.h"

#include <algorithm>

#include "kernels/direct/depthwise.h"
#include "kernels/direct/direct_tasks.h"
#include "kernels/direct/window_taps.h"

namespace millrace::kernels {
namespace {

constexpr std::size_t sums_at_once = 16384;

/// Along one axis, over all results.
std::size_t taps_in_image(const WindowAxis& axis) {
  std::size_t sum = 0;
  for (std::size_t tap = 0; tap < axis.window; ++tap) sum += outputs_inside(axis, tap).size();
  return sum;
}

/// A task has a rectangle of results and some panels of a group.
struct TapTasks {
  TapTasks(const DirectConvolution& c, const DirectTasks& direct)
      : chunks(direct.chunks), width(divided_up(direct.panels, chunks) * direct.panel) {
    const std::size_t fit = std::max<std::size_t>(sums_at_once / width, 1);
    columns = divided_up(c.width.output, divided_up(c.width.output, fit));
    rows = std::clamp<std::size_t>(fit / columns, 1, c.height.output);
    across = divided_up(c.width.output, columns);
    down = divided_up(c.height.output, rows);
  }
  std::size_t count(const DirectConvolution& c) const {
    return c.images * c.groups * down * across * chunks;
  }

  std::size_t chunks, width;  // of the panels; outputs of the largest
  std::size_t columns, rows;  // of a rectangle
  std::size_t across, down;   // rectangles of an image
};

class TapTask {
 public:
  TapTask(const DirectConvolution& c, const DirectTasks& direct, const TapTasks& tasks,
          const DirectOperands& o)
      : c_(c), d_(direct), t_(tasks), o_(o) {}

  void run(std::size_t index) {
    const std::size_t chunk = index % t_.chunks;
    index /= t_.chunks;
    left_ = index % t_.across * t_.columns;
    right_ = std::min(left_ + t_.columns, c_.width.output);
    index /= t_.across;
    top_ = index % t_.down * t_.rows;
    bottom_ = std::min(top_ + t_.rows, c_.height.output);
    index /= t_.down;
    group_ = index % c_.groups;
    image_ = index / c_.groups;
    panel_ = d_.panels * chunk / t_.chunks;
    panels_ = d_.panels * (chunk + 1) / t_.chunks - panel_;
    std::fill_n(sums_, (bottom_ - top_) * (right_ - left_) * stride(), 0.f);
    const std::size_t channels = c_.channels_of_group();
    const std::size_t steps = divided_up(channels, most_depth);
    const std::size_t step = round_up(divided_up(channels, steps), 4);
    for (std::size_t tap = 0; tap < c_.taps(); ++tap)
      for (std::size_t first = 0; first < channels; first += step)
        add_tap(tap, first, std::min(step, channels - first));
    for (std::size_t y = top_; y < bottom_; ++y) finish(y);
  }

 private:
  std::size_t stride() const { return panels_ * d_.panel; }
  float* sums_at(std::size_t y, std::size_t x) {
    return sums_ + ((y - top_) * (right_ - left_) + x - left_) * stride();
  }

  /// Some channels of it.
  void add_tap(std::size_t tap, std::size_t first, std::size_t depth) {
    const std::size_t tap_y = tap / c_.width.window, tap_x = tap % c_.width.window;
    const TapRange ys = outputs_inside(c_.height, tap_y), xs = outputs_inside(c_.width, tap_x);
    const std::size_t left = std::max(left_, xs.first), right = std::min(right_, xs.end);
    if (left >= right) return;
    const std::size_t channels = c_.channels_of_group();
    const std::size_t from_x = left * c_.width.stride + tap_x * c_.width.dilation - c_.width.pad;
    PanelRows rows = {};
    rows.depth = depth;
    rows.from_stride = c_.width.stride * c_.channels;
    rows.before_stride = rows.to_stride = stride();
    rows.end = SumsEnd::more_follows;
    rows.convolution = &c_;
    rows.with = o_.weights + ((group_ * d_.panels + panel_) * d_.depth + tap * channels + first) *
                                 d_.panel;
    for (std::size_t y = std::max(top_, ys.first); y < std::min(bottom_, ys.end); ++y) {
      const std::size_t from_y =
          y * c_.height.stride + tap_y * c_.height.dilation - c_.height.pad;
      const std::size_t pixel =
          (image_ * c_.height.input + from_y) * c_.width.input + from_x;
      rows.from = o_.source + pixel * c_.channels + group_ * channels + first;
      rows.before = rows.to = sums_at(y, left);
      run_in(c_.lanes, RowsByPanels{rows, right - left, d_.depth, panels_});
    }
  }

  void finish(std::size_t y) {
    const std::size_t in_group = panel_ * d_.panel;
    const std::size_t output = group_ * c_.outputs_of_group() + in_group;
    const std::size_t pixel = (image_ * c_.height.output + y) * c_.width.output + left_;
    run_in(c_.lanes, FinishKept{c_, sums_at(y, left_), o_.bias ? o_.bias + output : nullptr,
                                stride(), o_.result + pixel * c_.outputs + output, right_ - left_,
                                std::min(stride(), c_.outputs_of_group() - in_group)});
  }

  const DirectConvolution& c_;
  const DirectTasks& d_;
  const TapTasks& t_;
  const DirectOperands& o_;
  std::size_t image_ = 0, group_ = 0, panel_ = 0, panels_ = 0;
  std::size_t top_ = 0, bottom_ = 0, left_ = 0, right_ = 0;
  alignas(64) float sums_[sums_at_once];
};

}  // namespace

bool skips_padding(const DirectConvolution& c) {
  constexpr std::size_t few_channels = 32;  // then sums are read and written too often
  const std::size_t channels = c.channels_of_group();
  if (is_depthwise(c) || channels < few_channels || channels % 4 != 0) return false;
  if (c.depth.window != 1 || c.depth.input != 1 || c.depth.output != 1) return false;
  const std::size_t inside = taps_in_image(c.height) * taps_in_image(c.width);
  const std::size_t all = c.height.window * c.height.output * c.width.window * c.width.output;
  return 4 * inside < 3 * all;
}

void convolve_tap_by_tap(const DirectConvolution& c, const DirectOperands& operands) {
  const DirectTasks direct(c);
  const TapTasks tasks(c, direct);
  const auto count = static_cast<std::ptrdiff_t>(tasks.count(c));
#if defined(_OPENMP)
#pragma omp parallel for schedule(static) if (count > 1)
#endif
  for (std::ptrdiff_t i = 0; i < count; ++i)
    TapTask(c, direct, tasks, operands).run(static_cast<std::size_t>(i));
}

}  // namespace millrace::kernels
