#include "kernels/lrn.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "kernels/bfloat16.h"

namespace millrace::kernels {
namespace {

/// Space for a pixel on its way: its numbers, and their squares with zeros around them.
struct Scratch {
  std::vector<float> numbers, squares;
  explicit Scratch(std::size_t channels)
      : numbers(channels), squares(channels + response_window - 1) {}
};

/// x^-0.5 for x > 0 by Newton's method from an estimate by the exponent's bits, which is within 4
/// %: two steps leave 5e-6, three only rounding errors.
template <int steps>
[[gnu::always_inline]] inline float inverse_root(float x) {
  constexpr std::uint32_t estimate = 0x5f3759df;
  float y = std::bit_cast<float>(estimate - (std::bit_cast<std::uint32_t>(x) >> 1));
  for (int step = 0; step < steps; ++step) y *= 1.5f - 0.5f * x * y * y;
  return y;
}

/// x^-0.75 = x^-0.5 * x^-0.5 * (x^-0.5)^-0.5.
template <int steps>
[[gnu::always_inline]] inline float power(float x) {
  const float root = inverse_root<steps>(x);
  return root * root * inverse_root<steps>(root);
}

/// In loops that compilers turn into vectors. `to` may be `from`.
template <int steps>
[[gnu::always_inline]] inline void write_pixel(const float* from, const ResponseNorm& norm,
                                               float* __restrict squares, float* to) {
  const std::size_t channels = norm.channels;
  const float bias = norm.bias, factor = norm.alpha / static_cast<float>(response_window);
  for (std::size_t c = 0; c < channels; ++c) squares[response_window / 2 + c] = from[c] * from[c];
  for (std::size_t c = 0; c < channels; ++c) {
    float sum = 0;
    for (std::size_t k = 0; k < response_window; ++k) sum += squares[c + k];
    to[c] = from[c] * power<steps>(bias + factor * sum);
  }
}

#if defined(__x86_64__) && defined(__GNUC__)
[[gnu::target_clones("avx512f", "avx2", "default")]]
#endif
void write_pixels(std::span<const float> from, const ResponseNorm& norm, Scratch& scratch,
                  float* to) {
  for (std::size_t i = 0; i < from.size(); i += norm.channels)
    write_pixel<3>(from.data() + i, norm, scratch.squares.data(), to + i);
}

#if defined(__x86_64__) && defined(__GNUC__)
[[gnu::target_clones("avx512f", "avx2", "default")]]
#endif
void write_pixels(std::span<const std::uint16_t> from, const ResponseNorm& norm, Scratch& scratch,
                  std::uint16_t* to) {
  float* const numbers = scratch.numbers.data();
  for (std::size_t i = 0; i < from.size(); i += norm.channels) {
    for (std::size_t c = 0; c < norm.channels; ++c) numbers[c] = from_bfloat16(from[i + c]);
    write_pixel<2>(numbers, norm, scratch.squares.data(), numbers);
    for (std::size_t c = 0; c < norm.channels; ++c) to[i + c] = to_bfloat16(numbers[c]);
  }
}

template <class Number>
void write_all(std::span<const Number> from, const ResponseNorm& norm, Number* to) {
  constexpr std::size_t piece = 16384;  // numbers; enough work for a thread
  const std::size_t each = std::max<std::size_t>(piece / norm.channels, 1) * norm.channels;
  const auto pieces = static_cast<std::ptrdiff_t>((from.size() + each - 1) / each);
#if defined(_OPENMP)
#pragma omp parallel for schedule(static)
#endif
  for (std::ptrdiff_t i = 0; i < pieces; ++i) {
    Scratch scratch(norm.channels);
    const std::size_t first = static_cast<std::size_t>(i) * each;
    write_pixels(from.subspan(first, std::min(each, from.size() - first)), norm, scratch,
                 to + first);
  }
}

}  // namespace

void normalize_response(std::span<const float> from, const ResponseNorm& norm, float* to) {
  write_all(from, norm, to);
}

void normalize_response(std::span<const std::uint16_t> from, const ResponseNorm& norm,
                        std::uint16_t* to) {
  write_all(from, norm, to);
}

}  // namespace millrace::kernels
