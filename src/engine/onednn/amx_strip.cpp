#include "engine/onednn/amx_strip.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "engine/onednn/bfloat16.h"
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace millrace::engine::onednn {
namespace {

constexpr std::size_t step_size = 32;            // numbers of a tile's row
constexpr std::size_t slack = 32;                // pixels that a last block may look too far
constexpr std::size_t strip_bytes = 768 * 1024;  // of a second-level cache, beside the weights

std::size_t round_up(std::size_t number, std::size_t to) { return (number + to - 1) / to * to; }

/// Steps of one row of the window, with columns folded and not.
std::size_t steps_folded(const AmxConvolution& c) {
  return round_up(c.width.window * c.channels, step_size) / step_size;
}
std::size_t steps_by_column(const AmxConvolution& c) {
  return c.width.window * round_up(c.channels, step_size) / step_size;
}

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

/// A row of a plane being filled.
class Row {
 public:
  Row(const AmxConvolution& convolution, const AmxStrips& strips, std::uint16_t* to)
      : convolution_(convolution), strips_(strips), to_(to) {}

  /// `row`: of the image, or null for padding. `first`: the column of the plane's first pixel, as
  /// far before the image's first one as the padding is wide.
  void fill(const std::byte* row, std::size_t first) const {
    const std::size_t all = strips_.width * strips_.pixel;
    if (row == nullptr) {
      clear(0, all);
      return;
    }
    const WindowAxis& axis = convolution_.width;
    const bool dense = strips_.folded || (axis.stride == 1 && strips_.pixel == channels());
    if (dense) {
      const std::size_t begin = std::min((axis.pad - std::min(axis.pad, first)) * channels(), all);
      const std::size_t skipped = first > axis.pad ? first - axis.pad : 0;
      const std::size_t count =
          std::min((axis.input - std::min(axis.input, skipped)) * channels(), all - begin);
      clear(0, begin);
      take(row, skipped * channels(), begin, count);
      clear(begin + count, all);
      return;
    }
    for (std::size_t i = 0; i < strips_.width; ++i) {
      const std::size_t place = first + i * axis.stride, at = i * strips_.pixel;
      const bool inside = place >= axis.pad && place - axis.pad < axis.input;
      const std::size_t count = inside ? channels() : 0;
      if (inside) take(row, (place - axis.pad) * channels(), at, count);
      clear(at + count, at + strips_.pixel);
    }
  }
  void clear(std::size_t begin, std::size_t end) const {
    if (begin >= end) return;
    std::memset(to_ + begin, 0, (end - begin) * sizeof(std::uint16_t));
    if (strips_.splits)
      std::memset(to_ + strips_.low + begin, 0, (end - begin) * sizeof(std::uint16_t));
  }

 private:
  std::size_t channels() const { return convolution_.channels; }

  void take(const std::byte* row, std::size_t from, std::size_t at, std::size_t count) const {
    if (convolution_.reads_bf16)
      std::memcpy(to_ + at, row + from * sizeof(std::uint16_t), count * sizeof(std::uint16_t));
    else
      write_terms(reinterpret_cast<const float*>(row) + from, count, to_ + at,
                  strips_.splits ? to_ + strips_.low + at : nullptr);
  }

  const AmxConvolution& convolution_;
  const AmxStrips& strips_;
  std::uint16_t* to_;
};

}  // namespace

AmxStrips::AmxStrips(const AmxConvolution& c) : splits(c.split) {
  const WindowAxis &h = c.height, &w = c.width;
  folded = w.dilation == 1 && steps_folded(c) < steps_by_column(c);
  pixel = folded ? w.stride * c.channels : round_up(c.channels, step_size);
  const std::size_t wide = folded ? w.window : (w.window - 1) * w.dilation + 1;
  width = w.output + (wide - 1) / w.stride;
  more_rows = (h.window - 1) * h.dilation / h.stride;
  std::vector<std::size_t> plane_of;
  for (std::size_t row = 0; row < h.window; ++row)
    for (std::size_t column = 0; column < (folded ? 1 : w.window); ++column) {
      const Plane at{row * h.dilation % h.stride, column * w.dilation % w.stride};
      const auto found = std::find(planes.begin(), planes.end(), at);
      const auto index = static_cast<std::size_t>(found - planes.begin());
      if (found == planes.end()) planes.push_back(at);
      const std::size_t count = folded ? steps_folded(c) : steps_by_column(c) / w.window;
      for (std::size_t i = 0; i < count; ++i) {
        taps.push_back({row, column, i * step_size});
        plane_of.push_back(index);
      }
    }
  const std::size_t of_row =
      planes.size() * width * pixel * sizeof(std::uint16_t) * (splits ? 2 : 1);
  const std::size_t fitting =
      std::max<std::size_t>(strip_bytes / of_row, more_rows + 1) - more_rows;
  const std::size_t strips = (h.output + fitting - 1) / fitting;
  rows = (h.output + strips - 1) / strips;
  plane = ((rows + more_rows) * width + slack) * pixel + round_up(w.window * c.channels, step_size);
  plane = round_up(plane, step_size);
  low = planes.size() * plane;
  for (std::size_t i = 0; i < taps.size(); ++i) {
    const Step& tap = taps[i];
    const std::size_t down = tap.row * h.dilation / h.stride;
    const std::size_t right = tap.column * w.dilation / w.stride;
    steps.push_back(plane_of[i] * plane + (down * width + right) * pixel + tap.channel);
  }
}

std::size_t AmxStrips::numbers() const { return low * (splits ? 2 : 1); }

std::size_t AmxStrips::weights_of_block() const {
  return steps.size() * step_size * 32 * (splits ? 2 : 1);
}

std::size_t packed_count(const AmxConvolution& convolution) {
  return AmxStrips(convolution).weights_of_block() * (round_up(convolution.outputs, 32) / 32);
}

std::size_t working_bytes(const AmxConvolution& convolution) {
  return AmxStrips(convolution).numbers() * sizeof(std::uint16_t);
}

std::string form_of_weights(const AmxConvolution& c) {
  return fmt::format("amx 1 {} {} {} {} {} {}", c.outputs, c.channels, c.height.window,
                     c.width.window, AmxStrips(c).folded, c.split);
}

namespace {

/// The weight of an output for a number of all its steps; zero for what fills a step up.
float weight_at(const AmxConvolution& c, const AmxStrips& strips, std::size_t step_number,
                std::span<const float> of_output) {
  const AmxStrips::Step& tap = strips.taps[step_number / step_size];
  const std::size_t n = tap.channel + step_number % step_size;
  const std::size_t column = strips.folded ? n / c.channels : tap.column;
  const std::size_t channel = strips.folded ? n % c.channels : n;
  if (column >= c.width.window || channel >= c.channels) return 0;
  return of_output[(channel * c.height.window + tap.row) * c.width.window + column];
}

}  // namespace

void pack_weights(const AmxConvolution& c, std::span<const float> weights,
                  std::span<std::uint16_t> to) {
  const AmxStrips strips(c);
  std::fill(to.begin(), to.end(), std::uint16_t{0});
  const std::size_t tiles_of_step = c.split ? 4 : 2, of_output = weights.size() / c.outputs;
  const std::size_t numbers = strips.steps.size() * step_size;
  for (std::size_t i = 0; i < c.outputs * numbers; ++i) {
    const std::size_t output = i / numbers, n = i % numbers, k = n % step_size;
    const float x = weight_at(c, strips, n, weights.subspan(output * of_output, of_output));
    const std::size_t step = output / 32 * strips.steps.size() + n / step_size;
    const std::size_t tile = step * tiles_of_step + output % 32 / 16;
    const std::size_t at = tile * 512 + k / 2 * 32 + output % 16 * 2 + k % 2;
    to[at] = to_bfloat16(x);
    if (c.split) to[at + 2 * 512] = to_bfloat16(x - from_bfloat16(to[at]));
  }
}

void fill_strip(const AmxConvolution& c, const AmxStrips& strips, const AmxOperands& operands,
                const StripPlace& place) {
  const std::size_t size = c.reads_bf16 ? sizeof(std::uint16_t) : sizeof(float);
  const std::size_t line = c.width.input * c.channels * size;
  const std::byte* const image = operands.source + place.image * c.height.input * line;
  auto* const strip = reinterpret_cast<std::uint16_t*>(operands.working);
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
    std::uint16_t* const to = strip + index * strips.plane + row * strips.width * strips.pixel;
    const Row target(c, strips, to);
    target.fill(inside ? image + (y - c.height.pad) * line : nullptr, at.column);
    const std::size_t end = (index + 1) * strips.plane - static_cast<std::size_t>(to - strip);
    if (row + 1 == rows) target.clear(strips.width * strips.pixel, end);
  }
}

}  // namespace millrace::engine::onednn
