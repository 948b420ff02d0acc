#include "kernels/amx/amx_strip.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/bfloat16.h"
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace millrace::kernels {
namespace {

constexpr std::size_t step_bytes = 64;  // of a tile's row
constexpr std::size_t tile_bytes = 16 * step_bytes;
constexpr std::size_t tile_rows = 32;            // of both halves of a block
constexpr std::size_t slack = 32;                // pixels that a last block may look too far
constexpr std::size_t strip_bytes = 768 * 1024;  // of a second-level cache, beside the weights

#if defined(__x86_64__)
[[gnu::target("avx512f,avx512bw,avx512vl,avx512bf16")]] void write_terms(const float* from,
                                                                         std::size_t count,
                                                                         std::uint16_t* high,
                                                                         std::uint16_t* low) {
  for (std::size_t i = 0; i < count; i += 16) {
    const std::size_t left = std::min<std::size_t>(count - i, 16);
    const auto mask = static_cast<__mmask16>((1u << left) - 1);
    const __m512 x = _mm512_maskz_loadu_ps(mask, from + i);
    const auto rounded = reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(x));
    _mm256_mask_storeu_epi16(high + i, mask, rounded);
    if (low == nullptr) continue;
    const __m512 seen = _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(rounded), 16));
    const auto rest = reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(_mm512_sub_ps(x, seen)));
    _mm256_mask_storeu_epi16(low + i, mask, rest);
  }
}

#else
void write_terms(const float*, std::size_t, std::uint16_t*, std::uint16_t*) {}
#endif

/// A row of a plane being filled. Places in it are counted in bytes.
class Row {
 public:
  Row(const AmxConvolution& convolution, const AmxStrips& strips, std::byte* to)
      : convolution_(convolution),
        strips_(strips),
        read_size_(size_of(convolution.source)),
        written_(convolution.channels * strips.number),
        to_(to) {}

  /// `row`: of the image, or null for padding. `first`: the column of the plane's first pixel, as
  /// far before the image's first one as the padding is wide.
  void fill(const std::byte* row, std::size_t first) const {
    const std::size_t all = strips_.width * strips_.pixel;
    if (row == nullptr) {
      clear(0, all);
      return;
    }
    const WindowAxis& axis = convolution_.width;
    const bool dense = strips_.folded || (axis.stride == 1 && strips_.pixel == written_);
    if (dense) {
      const std::size_t begin = std::min((axis.pad - std::min(axis.pad, first)) * written_, all);
      const std::size_t skipped = first > axis.pad ? first - axis.pad : 0;
      const std::size_t end =
          std::min(begin + (axis.input - std::min(axis.input, skipped)) * written_, all);
      clear(0, begin);
      take(row, skipped, begin, end);
      clear(end, all);
      return;
    }
    for (std::size_t i = 0; i < strips_.width; ++i) {
      const std::size_t place = first + i * axis.stride, at = i * strips_.pixel;
      const bool inside = place >= axis.pad && place - axis.pad < axis.input;
      const std::size_t end = inside ? at + written_ : at;
      if (inside) take(row, place - axis.pad, at, end);
      clear(end, at + strips_.pixel);
    }
  }
  void clear(std::size_t begin, std::size_t end) const {
    if (begin >= end) return;
    std::memset(to_ + begin, 0, end - begin);
    if (is_split()) std::memset(to_ + strips_.low + begin, 0, end - begin);
  }

 private:
  bool is_split() const { return convolution_.factors == AmxFactors::split; }

  /// From the row's pixel `first` on, to these places.
  void take(const std::byte* row, std::size_t first, std::size_t begin, std::size_t end) const {
    const std::byte* const from = row + first * convolution_.channels * read_size_;
    if (read_size_ == strips_.number) {
      std::memcpy(to_ + begin, from, end - begin);
      return;
    }
    const auto words = [](std::byte* at) { return reinterpret_cast<std::uint16_t*>(at); };
    write_terms(reinterpret_cast<const float*>(from), (end - begin) / strips_.number,
                words(to_ + begin), is_split() ? words(to_ + strips_.low + begin) : nullptr);
  }

  const AmxConvolution& convolution_;
  const AmxStrips& strips_;
  std::size_t read_size_;
  std::size_t written_;  // bytes of a pixel without padding
  std::byte* to_;
};

/// From one pixel to the next, in steps. Where that is a large even number, the rows of a tile fall
/// into few sets of the first-level cache, and products take a quarter longer.
std::size_t apart(std::size_t steps) {
  constexpr std::size_t harmless = 7;
  return steps > harmless && steps % 2 == 0 ? steps + 1 : steps;
}

/// The weight of an output for a number of all its steps; zero for what fills a step up.
float weight_at(const AmxConvolution& c, const AmxStrips& strips, std::size_t number,
                std::span<const float> of_output) {
  const AmxStrips::Step& tap = strips.taps[number / strips.step_numbers];
  const std::size_t n = tap.channel + number % strips.step_numbers;
  const std::size_t column = strips.folded ? n / c.channels : tap.column;
  const std::size_t channel = strips.folded ? n % c.channels : n;
  if (column >= c.width.window || channel >= c.channels) return 0;
  return of_output[(channel * c.height.window + tap.row) * c.width.window + column];
}

void put(float x, const AmxConvolution& c, std::byte* to) {
  auto* const words = reinterpret_cast<std::uint16_t*>(to);
  if (c.factors == AmxFactors::int8) {
    *to = static_cast<std::byte>(
        static_cast<std::int8_t>(std::clamp(std::nearbyint(x), -127.f, 127.f)));
    return;
  }
  words[0] = to_bfloat16(x);
  if (c.factors == AmxFactors::split)
    words[2 * tile_bytes / 2] = to_bfloat16(x - from_bfloat16(words[0]));
}

}  // namespace

AmxStrips::AmxStrips(const AmxConvolution& c)
    : number(c.factors == AmxFactors::int8 ? 1 : 2), terms(c.factors == AmxFactors::split ? 2 : 1) {
  step_numbers = step_bytes / number;
  const WindowAxis &h = c.height, &w = c.width;
  const std::size_t folded_steps = round_up(w.window * c.channels, step_numbers) / step_numbers;
  const std::size_t column_steps = round_up(c.channels, step_numbers) / step_numbers;
  folded = w.dilation == 1 && folded_steps < w.window * column_steps;
  pixel = folded ? w.stride * c.channels * number : apart(column_steps) * step_bytes;
  const std::size_t wide = folded ? w.window : (w.window - 1) * w.dilation + 1;
  width = w.output + (wide - 1) / w.stride;
  more_rows = (h.window - 1) * h.dilation / h.stride;
  std::vector<std::size_t> plane_of;
  for (std::size_t tap = 0; tap < h.window * (folded ? 1 : w.window); ++tap) {
    const std::size_t row = folded ? tap : tap / w.window, column = folded ? 0 : tap % w.window;
    const Plane at{row * h.dilation % h.stride, column * w.dilation % w.stride};
    const auto found = std::find(planes.begin(), planes.end(), at);
    const auto index = static_cast<std::size_t>(found - planes.begin());
    if (found == planes.end()) planes.push_back(at);
    for (std::size_t i = 0; i < (folded ? folded_steps : column_steps); ++i) {
      taps.push_back({row, column, i * step_numbers});
      plane_of.push_back(index);
    }
  }
  const std::size_t of_row = planes.size() * width * pixel * terms;
  const std::size_t fitting =
      std::max<std::size_t>(strip_bytes / of_row, more_rows + 1) - more_rows;
  const std::size_t strips = (h.output + fitting - 1) / fitting;
  rows = (h.output + strips - 1) / strips;
  if (width == 1) rows = round_up(rows, tile_rows);
  plane = ((rows + more_rows) * width + slack) * pixel + (folded_steps + 1) * step_bytes;
  plane = round_up(plane, step_bytes);
  low = planes.size() * plane;
  for (std::size_t i = 0; i < taps.size(); ++i) {
    const Step& tap = taps[i];
    const std::size_t down = tap.row * h.dilation / h.stride;
    const std::size_t right = tap.column * w.dilation / w.stride;
    steps.push_back(plane_of[i] * plane + (down * width + right) * pixel + tap.channel * number);
  }
}

std::size_t AmxStrips::weights_of_block() const { return steps.size() * terms * 2 * tile_bytes; }

std::size_t packed_size(const AmxConvolution& c) {
  return AmxStrips(c).weights_of_block() * (round_up(c.outputs, 32) / 32);
}

std::size_t working_size(const AmxConvolution& c) {
  const AmxStrips strips(c);
  return strips.low * strips.terms;
}

std::string form_of_weights(const AmxConvolution& c) {
  return fmt::format("amx 2 {} {} {} {} {} {}", c.outputs, c.channels, c.height.window,
                     c.width.window, AmxStrips(c).folded, static_cast<int>(c.factors));
}

void pack_weights(const AmxConvolution& c, std::span<const float> weights,
                  std::span<const float> factors, std::span<std::byte> to) {
  const AmxStrips strips(c);
  std::fill(to.begin(), to.end(), std::byte{0});
  const std::size_t numbers = strips.steps.size() * strips.step_numbers;
  const std::size_t group = 4 / strips.number;  // numbers that lie side by side for an output
  const std::size_t of_output = weights.size() / c.outputs;
  for (std::size_t i = 0; i < c.outputs * numbers; ++i) {
    const std::size_t output = i / numbers, n = i % numbers, k = n % strips.step_numbers;
    const float x = weight_at(c, strips, n, weights.subspan(output * of_output, of_output));
    const std::size_t step = output / 32 * strips.steps.size() + n / strips.step_numbers;
    const std::size_t tile = step * strips.terms * 2 + output % 32 / 16;
    const std::size_t in_tile = k / group * 64 + output % 16 * 4 + k % group * strips.number;
    put(factors.empty() ? x : x * factors[output], c, to.data() + tile * tile_bytes + in_tile);
  }
}

void fill_strip(const AmxConvolution& c, const AmxStrips& strips, const AmxOperands& operands,
                const StripPlace& place) {
  const std::size_t line = c.width.input * c.channels * size_of(c.source);
  const std::byte* const image = operands.source + place.image * c.height.input * line;
  const std::size_t rows = place.rows + strips.more_rows;
  const auto all = static_cast<std::ptrdiff_t>(strips.planes.size() * rows);
#if defined(_OPENMP)
#pragma omp parallel for schedule(static)
#endif
  for (std::ptrdiff_t i = 0; i < all; ++i) {
    const std::size_t index = static_cast<std::size_t>(i) / rows;
    const std::size_t row = static_cast<std::size_t>(i) % rows;
    const AmxStrips::Plane& at = strips.planes[index];
    const std::size_t y = (place.first_row + row) * c.height.stride + at.row;
    const bool inside = y >= c.height.pad && y - c.height.pad < c.height.input;
    const std::size_t begin = index * strips.plane + row * strips.width * strips.pixel;
    const Row target(c, strips, operands.working + begin);
    target.fill(inside ? image + (y - c.height.pad) * line : nullptr, at.column);
    if (row + 1 == rows)
      target.clear(strips.width * strips.pixel, (index + 1) * strips.plane - begin);
  }
}

}  // namespace millrace::kernels
