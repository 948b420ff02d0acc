#include "workload/check/tiles.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace millrace::workload {
namespace {

constexpr std::int64_t most_weights = std::int64_t{1} << 40;
constexpr std::int64_t one_byte = 1, four_bytes = sizeof(std::int32_t);

/// With the size of its numbers.
struct SizedTile : Tile {
  std::int64_t element = 4;
};
using SizedTiles = std::span<const SizedTile>;

std::string shape_text(const Tile& tile) {
  return fmt::format("{} x {} x {} x {}", tile.counts[0], tile.counts[1], tile.counts[2],
                     tile.counts[3]);
}

bool is_aligned(const SizedTile& tile) {
  return tile.offset % tile.element == 0 &&
         std::ranges::all_of(tile.strides,
                             [&](std::int64_t stride) { return stride % tile.element == 0; });
}

bool lie_side_by_side(const SizedTile& tile, std::size_t side) {
  return tile.counts[side] == 1 || tile.strides[side] == tile.element;
}

/// Channels of rows of columns, which kernels take to lie side by side.
bool is_image(const SizedTile& tile) { return tile.counts[3] == 1 && lie_side_by_side(tile, 2); }

bool is_channel_list(const SizedTile& tile, std::int64_t channels) {
  return tile.counts == std::array<std::int64_t, max_sides>{channels, 1, 1, 1} &&
         lie_side_by_side(tile, 0);
}

std::string images_violation(const SizedTile& input, const SizedTile& sink) {
  if (is_image(input) && is_image(sink)) return {};
  return fmt::format(
      "it reads {} and writes {}, expected channels, rows, and columns that lie "
      "side by side",
      shape_text(input), shape_text(sink));
}

std::string weights_violation(const Link& link, const SizedTile& input, const SizedTile& weights,
                              const SizedTile& sink) {
  const std::int64_t kernel = link.window.kernel[0] * link.window.kernel[1];
  const std::int64_t each = link.operation == TileOperation::depthwise ? kernel
                            : input.counts[0] > most_weights / kernel  ? most_weights
                                                                       : input.counts[0] * kernel;
  const std::array<std::int64_t, max_sides> expected{sink.counts[0], each, 1, 1};
  if (weights.counts == expected && lie_side_by_side(weights, 1)) return {};
  return fmt::format("its weights are {}, expected {} channels of {} side by side",
                     shape_text(weights), sink.counts[0], each);
}

/// Checks numbers by channel: the bias, the scales.
std::string list_violation(const char* what, const SizedTile& list, const SizedTile& sink) {
  if (is_channel_list(list, sink.counts[0])) return {};
  return fmt::format("its {} {}, expected {} numbers side by side", what, shape_text(list),
                     sink.counts[0]);
}

/// Sums are finished where the link's sink has bytes: there it reads the scales.
bool reads_scales(const Link& link) {
  return link.scaling && link.scaling->by_channel && link.sink.element == one_byte;
}

std::string convolution_violation(const Link& link, SizedTiles sources, const SizedTile& sink) {
  const std::size_t least = reads_scales(link) ? 3 : 2;
  if (sources.size() < least || sources.size() > least + 1)
    return fmt::format("it has {} sources, expected an input, weights{} and perhaps a bias",
                       sources.size(), least == 3 ? ", scales" : "");
  std::string text = weights_violation(link, sources[0], sources[1], sink);
  if (text.empty() && sources.size() > least) text = list_violation("bias is", sources[2], sink);
  if (text.empty() && least == 3) text = list_violation("scales are", sources.back(), sink);
  return text;
}

std::string windows_violation(const Link& link, SizedTiles sources, const SizedTile& sink) {
  if (sources.empty()) return "it has windows, but no source";
  const SizedTile& input = sources[0];
  if (std::string text = images_violation(input, sink); !text.empty()) return text;
  if (link.operation != TileOperation::convolution && input.counts[0] != sink.counts[0])
    return fmt::format("it reads {} channels and writes {}, which do not mix", input.counts[0],
                       sink.counts[0]);
  if (multiplies(link.operation)) return convolution_violation(link, sources, sink);
  if (sources.size() != 1)
    return fmt::format("it is a pool of {} sources, expected 1", sources.size());
  return {};
}

std::string requantize_violation(const Link& link, SizedTiles sources, const SizedTile& sink) {
  const std::size_t expected = reads_scales(link) ? 2 : 1;
  if (sources.size() != expected)
    return fmt::format("it has {} sources, expected sums{}", sources.size(),
                       expected == 2 ? " and scales" : "");
  if (std::string text = images_violation(sources[0], sink); !text.empty()) return text;
  if (sources[0].counts != sink.counts)
    return fmt::format("it reads {} sums and writes {} numbers", shape_text(sources[0]),
                       shape_text(sink));
  return expected == 2 ? list_violation("scales are", sources[1], sink) : "";
}

/// The sides that a tile has to the plain loops, which do not see those without a stride.
std::size_t sides_with_stride(const Tile& tile) {
  std::size_t sides = 0;
  while (sides < max_sides && tile.strides[sides] != 0) ++sides;
  return sides;
}

/// The elements of each channel, if they lie side by side; else 0.
std::int64_t elements_of_channel(const SizedTile& tile) {
  const std::size_t sides = sides_with_stride(tile);
  for (std::size_t i = std::min<std::size_t>(sides, 3); i < max_sides; ++i)
    if (tile.counts[i] != 1) return 0;
  const bool rows_follow =
      tile.counts[1] == 1 || tile.strides[1] == tile.counts[2] * tile.element;
  const bool dense = sides < 2 || (sides == 2 && lie_side_by_side(tile, 1)) ||
                     (sides > 2 && lie_side_by_side(tile, 2) && rows_follow);
  return dense ? tile.counts[1] * tile.counts[2] : 0;
}

std::string layer_violation(SizedTiles sources, const SizedTile& sink) {
  const std::int64_t elements = elements_of_channel(sink);
  if (elements == 0)
    return fmt::format("it writes {}, expected elements that lie side by side", shape_text(sink));
  bool any_whole = false;
  for (const SizedTile& source : sources) {
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

/// Checks the sizes of its numbers: bytes in and out, sums and numbers by channel of four bytes.
std::string scaled_violation(const Link& link, SizedTiles sources, const SizedTile& sink) {
  const bool adds = multiplies(link.operation);
  const bool finishes = link.operation == TileOperation::requantize;
  if (!adds && !finishes && link.operation != TileOperation::max_pool)
    return "it has a scaling, which only convolutions, largest numbers and requantize have";
  const auto expected = [&](std::size_t i) {
    return i > (adds ? 1u : 0u) || finishes ? four_bytes : one_byte;
  };
  for (std::size_t i = 0; i < sources.size(); ++i)
    if (sources[i].element != expected(i))
      return fmt::format("the elements of its source {} have {} bytes, expected {} between 8-bit "
                         "integers",
                         i, sources[i].element, expected(i));
  const bool sums_up = adds && sink.element == four_bytes;
  if (sink.element != one_byte && !sums_up)
    return fmt::format("the elements of its sink have {} bytes, expected 1", sink.element);
  if (link.sink.period > 1 && !sums_up)
    return "its sink stays for several runs, and numbers of 8 bits do not sum up";
  return {};
}

/// Float32, or any other size that is the same for all: those are only simulated.
std::string plain_violation(const Link& link, SizedTiles sources, const SizedTile& sink) {
  if (link.operation == TileOperation::requantize) return "it requantises without a scaling";
  const bool same = std::ranges::all_of(
      sources, [&](const SizedTile& tile) { return tile.element == sink.element; });
  if (slides(link.operation) && !same) return "its elements have several sizes, and no scaling";
  if (link.sink.period > 1 && link.operation != TileOperation::convolution)
    return "its sink stays for several runs, and only convolutions sum up";
  return {};
}

}  // namespace

std::string tile_violation(const Link& link, std::span<const Tile> sources, const Tile& sink) {
  if (link.operation == TileOperation::whole) return {};
  std::vector<SizedTile> sized;
  for (std::size_t i = 0; i < sources.size(); ++i)
    sized.push_back({sources[i], link.sources[i].element});
  const SizedTile to{sink, link.sink.element};
  if (!is_aligned(to) || !std::ranges::all_of(sized, is_aligned))
    return "its tiles begin or lie apart by bytes that split a number";
  std::string text =
      link.scaling ? scaled_violation(link, sized, to) : plain_violation(link, sized, to);
  if (!text.empty()) return text;
  if (link.operation == TileOperation::requantize) return requantize_violation(link, sized, to);
  return slides(link.operation) ? windows_violation(link, sized, to) : layer_violation(sized, to);
}

}  // namespace millrace::workload
