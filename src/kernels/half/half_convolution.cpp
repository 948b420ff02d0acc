#include "kernels/half/half_convolution.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/bfloat16.h"
#include "kernels/direct/end_of_sums.h"
#include "kernels/direct/window_rows.h"
#include "kernels/float16.h"
#include "kernels/half/half_depthwise.h"
#include "kernels/half/half_panels.h"
#include "kernels/half/half_sums.h"

#if defined(__aarch64__) && !defined(__clang__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace millrace::kernels {
namespace {

#if defined(__aarch64__) && !defined(__clang__)
constexpr std::size_t window_halves = 24576;  // that lie side by side at once
constexpr std::size_t most_half_rows = 256;
constexpr std::size_t half_outputs_at_once = 128;  // or up to twice as many
constexpr std::size_t kept_wide_sums = 16384;      // in float32, from one step to the next

/// How the work is cut: a task has some pixels and some panels of a group.
struct HalfTasks {
  HalfTasks(const HalfConvolution& c, const HalfPanels& panels)
      : chunks(std::max<std::size_t>(panels.of_group * half_panel / half_outputs_at_once, 1)) {
    const std::size_t width = divided_up(panels.of_group, chunks) * half_panel;
    const std::size_t kept = panels.depth.steps > 1 ? kept_wide_sums / width : most_half_rows;
    const std::size_t fit = std::min({window_halves / panels.depth.step, most_half_rows, kept});
    blocks = divided_up(c.pixels(), fit / 8 * 8);
    pixels = divided_up(c.pixels(), blocks);
  }
  std::size_t count(const HalfConvolution& c) const { return c.groups * blocks * chunks; }

  std::size_t chunks;          // of a group's panels
  std::size_t blocks, pixels;  // of the images; pixels of a block
};

class HalfTask {
 public:
  HalfTask(const HalfConvolution& c, const HalfPanels& panels, const HalfTasks& tasks,
           const HalfOperands& operands)
      : c_(c), p_(panels), t_(tasks), o_(operands) {}

  void run(std::size_t index) {
    const std::size_t chunk = index % t_.chunks, block = index / t_.chunks % t_.blocks;
    group_ = index / t_.chunks / t_.blocks;
    first_panel_ = p_.of_group * chunk / t_.chunks;
    last_panel_ = p_.of_group * (chunk + 1) / t_.chunks;
    first_pixel_ = t_.pixels * block;
    pixels_ = std::min(t_.pixels, c_.pixels() - first_pixel_);
    copy_bias();
    const WindowRows<Half> windows(c_, o_.source, group_);
    for (std::size_t begin = 0; begin < p_.depth.all; begin += p_.depth.step)
      multiply_step(windows, begin, std::min(begin + p_.depth.step, p_.depth.all));
  }

 private:
  /// Copies the bias of all outputs of the panels, whether there are so many or not.
  void copy_bias() {
    const std::size_t first = first_panel_ * half_panel;
    const std::size_t width = (last_panel_ - first_panel_) * half_panel;
    std::fill_n(bias_, width, 0.f);
    if (!o_.bias) return;
    const std::size_t there = std::min(width, c_.outputs_of_group() - first);
    std::copy_n(o_.bias + group_ * c_.outputs_of_group() + first, there, bias_);
  }

  void multiply_step(const WindowRows<Half>& windows, std::size_t begin, std::size_t end) {
    HalfRows rows = {};
    rows.depth = end - begin;
    rows.block = p_.depth.block;
    rows.begins = begin == 0;
    rows.ends = end == p_.depth.all;
    rows.from = windows.are_pixels() ? windows.pixel(first_pixel_) + begin : windows_;
    rows.from_stride = windows.are_pixels() ? c_.channels : p_.depth.step;
    if (!windows.are_pixels()) put_side_by_side(windows, begin, end);
    rows.to_stride = c_.outputs;
    rows.low = c_.activation.low;
    rows.high = c_.activation.high;
    rows.convolution = &c_;
    for (std::size_t panel = first_panel_; panel < last_panel_; ++panel)
      multiply_panel(rows, begin, panel);
  }

  void put_side_by_side(const WindowRows<Half>& windows, std::size_t begin, std::size_t end) {
    const std::size_t filled = std::min(end, windows.depth());
    const std::size_t step = p_.depth.step;
    for (std::size_t i = 0; i < pixels_ && filled < end; ++i)
      std::fill_n(windows_ + i * step + end - begin - half_lanes, half_lanes, Half{});
    if (p_.depth.steps == 1) return windows.copy({first_pixel_, pixels_, step}, windows_);
    ResultPixel pixel = pixel_at(c_, first_pixel_);
    for (std::size_t i = 0; i < pixels_; ++i, pixel = next(c_, pixel))
      windows.copy(pixel, begin, filled, windows_ + i * step);
  }

  void multiply_panel(HalfRows& rows, std::size_t begin, std::size_t panel) {
    const std::size_t index = group_ * p_.of_group + panel, in_task = panel - first_panel_;
    const auto* const weights = reinterpret_cast<const Half*>(o_.weights);
    const auto* const scales = reinterpret_cast<const float*>(o_.weights + p_.scales());
    rows.with = weights + (index * p_.depth.all + begin) * half_panel;
    rows.scales = scales + index * half_panel;
    rows.bias = bias_ + in_task * half_panel;
    rows.kept = p_.depth.steps > 1 ? kept_ + in_task * pixels_ * half_panel : nullptr;
    const std::size_t first = panel * half_panel;
    rows.outputs = std::min(half_panel, c_.outputs_of_group() - first);
    rows.is_plain = rows.outputs % half_lanes == 0 && end_of(c_) != SumsEnd::other;
    rows.to = o_.result + first_pixel_ * c_.outputs + group_ * c_.outputs_of_group() + first;
    is_in_bfloats(c_) ? multiply_bfloats(rows, pixels_) : multiply(rows, pixels_);
  }

  const HalfConvolution& c_;
  const HalfPanels& p_;
  const HalfTasks& t_;
  const HalfOperands& o_;
  std::size_t group_ = 0, first_pixel_ = 0, pixels_ = 0, first_panel_ = 0, last_panel_ = 0;
  alignas(64) float bias_[2 * half_outputs_at_once + half_panel];
  alignas(64) Half windows_[window_halves];
  alignas(64) float kept_[kept_wide_sums];
};
#endif

/// The sum of a block's magnitudes is largest in one of an output's blocks.
double largest_block(const HalfDepth& depth, std::span<const float> numbers) {
  double most = 0;
  for (std::size_t k = 0; k < numbers.size();) {
    const std::size_t end = std::min(depth.end_of_block(k), numbers.size());
    double sum = 0;
    for (; k < end; ++k) sum += std::abs(double{numbers[k]});
    if (!(sum <= most)) most = sum;
  }
  return most;
}

void pack_half_panels(const HalfConvolution& c, std::span<const float> weights, std::byte* packed) {
  const HalfPanels panels(c);
  const std::size_t taps = c.taps(), channels = c.channels_of_group();
  std::vector<float> numbers(taps * channels);
  for (std::size_t output = 0; output < c.outputs; ++output) {
    const std::size_t in_group = output % c.outputs_of_group(), in_panel = in_group % half_panel;
    const std::size_t panel =
        output / c.outputs_of_group() * panels.of_group + in_group / half_panel;
    for (std::size_t tap = 0; tap < taps; ++tap)
      for (std::size_t i = 0; i < channels; ++i)
        numbers[tap * channels + i] = weights[(output * channels + i) * taps + tap];
    const bool is_bfloat = is_in_bfloats(c);
    const float scale = is_bfloat ? 1 : half_scale(largest_block(panels.depth, numbers));
    Half* const to = reinterpret_cast<Half*>(packed) + panel * panels.depth.all * half_panel;
    for (std::size_t k = 0; k < numbers.size(); ++k)
      to[place_in_panel(c, k, in_panel)] =
          is_bfloat ? to_bfloat16(numbers[k]) : to_float16(numbers[k] / scale);
    reinterpret_cast<float*>(packed + panels.scales())[panel * half_panel + in_panel] = scale;
  }
}

}  // namespace

#if defined(__aarch64__) && !defined(__clang__)
bool has_half_products() { return (::getauxval(AT_HWCAP) & HWCAP_ASIMDHP) != 0; }
bool has_bfloat_products() { return (::getauxval(AT_HWCAP2) & HWCAP2_BF16) != 0; }
#else
bool has_half_products() { return false; }
bool has_bfloat_products() { return false; }
#endif

std::size_t packed_size(const HalfConvolution& c) {
  if (is_half_depthwise(c)) return half_depthwise_size(c);
  const HalfPanels panels(c);
  return panels.scales() + panels.count * half_panel * sizeof(float);
}

std::string form_of_weights(const HalfConvolution& c) {
  return fmt::format("{} 1 {} {} {} {}", is_in_bfloats(c) ? "bfloat" : "half", c.outputs,
                     c.channels, c.groups, c.taps());
}

void pack_weights(const HalfConvolution& c, std::span<const float> weights,
                  std::span<std::byte> to) {
  std::fill(to.begin(), to.end(), std::byte{0});
  is_half_depthwise(c) ? pack_half_depthwise(c, weights, to.data())
                       : pack_half_panels(c, weights, to.data());
}

#if defined(__aarch64__) && !defined(__clang__)
void convolve(const HalfConvolution& c, const HalfOperands& operands) {
  if (is_half_depthwise(c)) return convolve_half_depthwise(c, operands);
  const HalfPanels panels(c);
  const HalfTasks tasks(c, panels);
  const auto count = static_cast<std::ptrdiff_t>(tasks.count(c));
#if defined(_OPENMP)
#pragma omp parallel for schedule(static) if (count > 1)
#endif
  for (std::ptrdiff_t i = 0; i < count; ++i)
    HalfTask(c, panels, tasks, operands).run(static_cast<std::size_t>(i));
}
#else
void convolve(const HalfConvolution&, const HalfOperands&) {}
#endif

}  // namespace millrace::kernels
