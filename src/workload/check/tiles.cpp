#include "workload/check/tiles.h"

#include <fmt/format.h>

#include <algorithm>

namespace millrace::workload {
namespace {

constexpr std::int64_t number = sizeof(float);
constexpr std::int64_t most_weights = std::int64_t{1} << 40;

std::string shape_text(const Tile& tile) {
  return fmt::format("{} x {} x {} x {}", tile.counts[0], tile.counts[1], tile.counts[2],
                     tile.counts[3]);
}

bool is_aligned(const Tile& tile) {
  return tile.offset % number == 0 && std::ranges::all_of(tile.strides, [](std::int64_t stride) {
           return stride % number == 0;
         });
}

bool lie_side_by_side(const Tile& tile, std::size_t side) {
  return tile.counts[side] == 1 || tile.strides[side] == number;
}

/// Channels of rows of columns, which kernels take to lie side by side.
bool is_image(const Tile& tile) { return tile.counts[3] == 1 && lie_side_by_side(tile, 2); }

bool is_channel_list(const Tile& tile, std::int64_t channels) {
  return tile.counts == std::array<std::int64_t, max_sides>{channels, 1, 1, 1} &&
         lie_side_by_side(tile, 0);
}

std::string weights_violation(const Link& link, const Tile& input, const Tile& weights,
                              const Tile& sink) {
  const std::int64_t kernel = link.window.kernel[0] * link.window.kernel[1];
  const std::int64_t each = link.operation == TileOperation::depthwise ? kernel
                            : input.counts[0] > most_weights / kernel  ? most_weights
                                                                       : input.counts[0] * kernel;
  const std::array<std::int64_t, max_sides> expected{sink.counts[0], each, 1, 1};
  if (weights.counts == expected && lie_side_by_side(weights, 1)) return {};
  return fmt::format("its weights are {}, expected {} channels of {} side by side",
                     shape_text(weights), sink.counts[0], each);
}

std::string convolution_violation(const Link& link, std::span<const Tile> sources,
                                  const Tile& sink) {
  if (sources.size() < 2 || sources.size() > 3)
    return fmt::format("it has {} sources, expected an input, weights and perhaps a bias",
                       sources.size());
  if (std::string text = weights_violation(link, sources[0], sources[1], sink); !text.empty())
    return text;
  if (sources.size() == 3 && !is_channel_list(sources[2], sink.counts[0]))
    return fmt::format("its bias is {}, expected {} numbers side by side", shape_text(sources[2]),
                       sink.counts[0]);
  return {};
}

std::string windows_violation(const Link& link, std::span<const Tile> sources, const Tile& sink) {
  if (sources.empty()) return "it has windows, but no source";
  const Tile& input = sources[0];
  if (!is_image(input) || !is_image(sink))
    return fmt::format(
        "it reads {} and writes {}, expected channels, rows, and columns that lie "
        "side by side",
        shape_text(input), shape_text(sink));
  if (link.operation != TileOperation::convolution && input.counts[0] != sink.counts[0])
    return fmt::format("it reads {} channels and writes {}, which do not mix", input.counts[0],
                       sink.counts[0]);
  if (multiplies(link.operation)) return convolution_violation(link, sources, sink);
  if (sources.size() != 1)
    return fmt::format("it is a pool of {} sources, expected 1", sources.size());
  return {};
}

/// The sides that a tile has to the plain loops, which do not see those without a stride.
std::size_t sides_with_stride(const Tile& tile) {
  std::size_t sides = 0;
  while (sides < max_sides && tile.strides[sides] != 0) ++sides;
  return sides;
}

/// The elements of each channel, if they lie side by side; else 0.
std::int64_t elements_of_channel(const Tile& tile) {
  const std::size_t sides = sides_with_stride(tile);
  for (std::size_t i = std::min<std::size_t>(sides, 3); i < max_sides; ++i)
    if (tile.counts[i] != 1) return 0;
  const bool rows_follow = tile.counts[1] == 1 || tile.strides[1] == tile.counts[2] * number;
  const bool dense = sides < 2 || (sides == 2 && lie_side_by_side(tile, 1)) ||
                     (sides > 2 && lie_side_by_side(tile, 2) && rows_follow);
  return dense ? tile.counts[1] * tile.counts[2] : 0;
}

std::string layer_violation(std::span<const Tile> sources, const Tile& sink) {
  const std::int64_t elements = elements_of_channel(sink);
  if (elements == 0)
    return fmt::format("it writes {}, expected elements that lie side by side", shape_text(sink));
  bool any_whole = false;
  for (const Tile& source : sources) {
    const std::int64_t found = elements_of_channel(source);
    const bool is_one = sides_with_stride(source) == 0 && found == 1;
    const bool fits =
        is_one || (source.counts[0] == sink.counts[0] &&
                   (found == elements || (found == 1 && sides_with_stride(source) == 1)));
    if (!fits)
      return fmt::format("it reads {} for {}, which do not belong together", shape_text(source),
                         shape_text(sink));
    any_whole = any_whole || (source.counts[0] == sink.counts[0] && found == elements);
  }
  return any_whole ? "" : "none of its sources has the shape of what it writes";
}

}  // namespace

std::string tile_violation(const Link& link, std::span<const Tile> sources, const Tile& sink) {
  if (link.operation == TileOperation::whole) return {};
  const auto is_number = [](const Joint& joint) { return joint.element == number; };
  // Elements of other sizes are simulated; the kernels take numbers of float32.
  if (!is_number(link.sink) || !std::ranges::all_of(link.sources, is_number)) return {};
  if (!is_aligned(sink) || !std::ranges::all_of(sources, is_aligned))
    return fmt::format("its tiles begin or lie apart by bytes that are no multiple of {}", number);
  if (link.sink.period > 1 && link.operation != TileOperation::convolution)
    return "its sink stays for several runs, and only convolutions sum up";
  return slides(link.operation) ? windows_violation(link, sources, sink)
                                : layer_violation(sources, sink);
}

}  // namespace millrace::workload
