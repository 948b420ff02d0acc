#include "kernels/quads/quad_depthwise.h"

#include <algorithm>
#include <cstring>

#include "kernels/quads/depthwise_loops.h"
#include "kernels/quads/quad_finish.h"
#include "kernels/quads/turned_bytes.h"

namespace millrace::kernels {
namespace {

constexpr std::size_t most_taps = most_depthwise_taps;
constexpr std::size_t buffer_bytes = depthwise_bytes;  // of lines
constexpr std::size_t most_run = 128;                  // results of a row
constexpr std::size_t kept_depthwise_sums = 8192;      // at once
constexpr std::size_t task_rows = 16;                  // of a task

std::size_t depthwise_blocks(const QuadConvolution& c) {
  return divided_up(c.channels, depthwise_block);
}
std::size_t weights_of_block(const QuadConvolution& c) {
  return divided_up(c.taps(), 2) * depthwise_pair_size();
}
/// In bytes: behind the weights.
std::size_t starts_of_depthwise(const QuadConvolution& c) {
  return depthwise_blocks(c) * weights_of_block(c);
}
/// How the work is cut. A task has some channels of some rows of results, as far as the lines of
/// the image that they see, with padding, fit into a buffer.
struct DepthwiseTasks {
  explicit DepthwiseTasks(const QuadConvolution& c) {
    const std::size_t lines = c.depth.window * c.height.window;
    const std::size_t columns = most_line_bytes(c) / depthwise_block;
    const std::size_t fit = columns < reach_of(c.width) + 1
                                ? 1
                                : (columns - reach_of(c.width) - 1) / c.width.stride + 1;
    pieces = divided_up(c.width.output, std::min(fit, most_run));
    run = divided_up(c.width.output, pieces);
    line = (run - 1) * c.width.stride + reach_of(c.width) + 1;
    const std::size_t at_once = buffer_bytes / (lines * line * depthwise_block);
    chunks = divided_up(depthwise_blocks(c), std::max<std::size_t>(at_once, 1));
    blocks = divided_up(depthwise_blocks(c), chunks);
    chunks = divided_up(depthwise_blocks(c), blocks);
    parts = divided_up(c.height.output, task_rows);
  }
  std::size_t count(const QuadConvolution& c) const {
    return c.images * c.depth.output * parts * pieces * chunks;
  }
  static std::size_t reach_of(const WindowAxis& axis) { return (axis.window - 1) * axis.dilation; }
  static std::size_t most_line_bytes(const QuadConvolution& c) {
    return buffer_bytes / (c.depth.window * c.height.window);
  }

  std::size_t pieces, run;      // of a row of results; results of a piece
  std::size_t line;             // pixels of the image under them, with padding
  std::size_t chunks, blocks;   // of the channels; blocks of a chunk
  std::size_t parts;            // of the rows
};

class DepthwiseTask {
 public:
  DepthwiseTask(const QuadConvolution& c, const DepthwiseTasks& tasks, const QuadOperands& o)
      : c_(c), t_(tasks), o_(o) {}

  void run(std::size_t index) {
    const std::size_t chunk = index % t_.chunks, piece = index / t_.chunks % t_.pieces;
    index /= t_.chunks * t_.pieces;
    const std::size_t part = index % t_.parts, plane = index / t_.parts;
    first_block_ = chunk * t_.blocks;
    blocks_ = std::min(t_.blocks, depthwise_blocks(c_) - first_block_);
    first_ = piece * t_.run;
    count_ = std::min(t_.run, c_.width.output - first_);
    line_bytes_ = t_.line * blocks_ * depthwise_block;
    for (std::size_t i = 0; i < lines(); ++i) slots_[i] = none;
    const std::size_t end = c_.height.output * (part + 1) / t_.parts;
    for (std::size_t y = c_.height.output * part / t_.parts; y < end; ++y) {
      find_lines(plane, y);
      find_taps();
      const std::size_t row = plane * c_.height.output + y;
      const std::size_t at_once = kept_depthwise_sums / (count_ * depthwise_block);
      for (std::size_t block = 0; block < blocks_; block += at_once)
        run_blocks(block, std::min(at_once, blocks_ - block), row);
    }
  }

 private:
  static constexpr std::size_t none = static_cast<std::size_t>(-1), outside = none - 1;

  std::size_t lines() const { return c_.depth.window * c_.height.window; }

  /// Which line of all images lies under that row of taps, or that none does.
  std::size_t line_under(std::size_t plane, std::size_t y, std::size_t row) const {
    const std::size_t iy = y * c_.height.stride - c_.height.pad +
                           row % c_.height.window * c_.height.dilation;
    const std::size_t iz = plane % c_.depth.output * c_.depth.stride - c_.depth.pad +
                           row / c_.height.window * c_.depth.dilation;
    if (iy >= c_.height.input || iz >= c_.depth.input) return outside;
    return (plane / c_.depth.output * c_.depth.input + iz) * c_.height.input + iy;
  }

  /// Lines that are there already stay where they are.
  void find_lines(std::size_t plane, std::size_t y) {
    std::size_t wanted[most_taps];
    bool is_used[most_taps] = {};
    for (std::size_t i = 0; i < lines(); ++i) {
      wanted[i] = line_under(plane, y, i);
      places_[i] = none;
      for (std::size_t slot = 0; slot < lines() && places_[i] == none; ++slot)
        if (slots_[slot] == wanted[i] && !is_used[slot]) is_used[places_[i] = slot] = true;
    }
    for (std::size_t i = 0, slot = 0; i < lines(); ++i) {
      if (places_[i] != none) continue;
      while (is_used[slot]) ++slot;
      is_used[slot] = true;
      places_[i] = slot;
      slots_[slot] = wanted[i];
      copy_line(wanted[i], buffer_ + slot * line_bytes_);
    }
  }

  /// With padding, and as the unit counts.
  void copy_line(std::size_t line, std::uint8_t* to) const {
    const auto zero = static_cast<std::uint8_t>(c_.zero());
    const std::uint8_t turn = c_.turns_signs() ? 0x80 : 0;
    const std::size_t size = blocks_ * depthwise_block, channel = first_block_ * depthwise_block;
    const std::size_t there = std::min(size, c_.channels - channel);
    const std::uint8_t* const from = reinterpret_cast<const std::uint8_t*>(o_.source) + channel;
    for (std::size_t i = 0; i < t_.line; ++i, to += size) {
      const std::size_t x = first_ * c_.width.stride - c_.width.pad + i;
      if (line == outside || x >= c_.width.input) {
        std::memset(to, zero, size);
        continue;
      }
      copy_turned(from + (line * c_.width.input + x) * c_.channels, there, turn, to);
      if (there < size) std::memset(to + there, zero, size - there);
    }
  }

  void find_taps() {
    const std::size_t size = blocks_ * depthwise_block, across = c_.width.window;
    for (std::size_t tap = 0; tap < c_.taps(); ++tap)
      taps_[tap] = buffer_ + places_[tap / across] * line_bytes_ +
                   tap % across * c_.width.dilation * size;
    taps_[c_.taps()] = taps_[c_.taps() - 1];
  }

  void run_blocks(std::size_t index, std::size_t blocks, std::size_t row) {
    const std::size_t block = first_block_ + index, channel = block * depthwise_block;
    DepthwisePixels pixels;
    pixels.taps = taps_;
    pixels.tap_count = round_up(c_.taps(), 2);
    pixels.channel = index * depthwise_block;
    pixels.count = count_;
    pixels.apart = c_.width.stride * blocks_ * depthwise_block;
    pixels.weights = o_.weights + block * weights_of_block(c_);
    pixels.starts =
        reinterpret_cast<const std::int32_t*>(o_.weights + starts_of_depthwise(c_)) + channel;
    pixels.sums = sums_;
    pixels.sum_apart = blocks * depthwise_block;
    for (std::size_t i = 0; i < blocks; ++i) {
      sum_depthwise(pixels);
      pixels.channel += depthwise_block;
      pixels.weights += weights_of_block(c_);
      pixels.starts += depthwise_block;
      pixels.sums += depthwise_block;
    }
    const std::size_t result = (row * c_.width.output + first_) * c_.outputs + channel;
    finish({c_, sums_, pixels.sum_apart, o_.scales + channel, o_.bias + channel,
            o_.result + result * size_of(c_.result), count_,
            std::min(blocks * depthwise_block, c_.channels - channel)});
  }

  const QuadConvolution& c_;
  const DepthwiseTasks& t_;
  const QuadOperands& o_;
  std::size_t first_block_ = 0, blocks_ = 0, first_ = 0, count_ = 0, line_bytes_ = 0;
  std::size_t slots_[most_taps], places_[most_taps];  // lines in the buffer, and where they are
  const std::uint8_t* taps_[most_taps + 1];
  alignas(64) std::uint8_t buffer_[buffer_bytes];
  std::int32_t sums_[kept_depthwise_sums];
};

}  // namespace

std::size_t packed_depthwise_size(const QuadConvolution& c) {
  return starts_of_depthwise(c) + depthwise_blocks(c) * depthwise_block * sizeof(std::int32_t);
}

void pack_depthwise(const QuadConvolution& c, std::span<const std::int8_t> weights,
                    std::byte* to) {
  auto* const starts = reinterpret_cast<std::int32_t*>(to + starts_of_depthwise(c));
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const std::size_t channel = i / c.taps(), tap = i % c.taps();
    const std::size_t block = channel / depthwise_block;
    put_depthwise(weights[i], channel % depthwise_block, tap % 2,
                  to + block * weights_of_block(c) + tap / 2 * depthwise_pair_size());
    starts[channel] -= c.zero() * weights[i];
  }
}

void convolve_depthwise(const QuadConvolution& c, const QuadOperands& operands) {
  const DepthwiseTasks tasks(c);
  const auto count = static_cast<std::ptrdiff_t>(tasks.count(c));
#if defined(_OPENMP)
#pragma omp parallel for schedule(static) if (count > 1)
#endif
  for (std::ptrdiff_t i = 0; i < count; ++i)
    DepthwiseTask(c, tasks, operands).run(static_cast<std::size_t>(i));
}

}  // namespace millrace::kernels
