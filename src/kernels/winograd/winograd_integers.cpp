// Winograd convolutions whose factors are 16-bit integers, multiplied in pairs: twice as many at
// once as float32 numbers. The pixels of a tile are scaled by their largest magnitude, so that what
// they are at the points just fits; the weights of an output at a point are scaled so that no sum
// can leave 32 bits.
#include "kernels/winograd/winograd_integers.h"
#include "kernels/bfloat16.h"
#include "kernels/float16.h"

namespace millrace::kernels {

#if defined(__x86_64__) && !defined(__clang__)
namespace {

template <std::size_t tile, StoredNumber source, StoredNumber result>
class IntegerLoops : public IntegerBase<IntegerLoops<tile, source, result>, tile, 2, result> {
  using Base = IntegerBase<IntegerLoops, tile, 2, result>;
  using Piece = typename Base::Piece;
  using Range = typename Base::Range;
  using Base::c_, Base::t_, Base::o_, Base::side, Base::larger;
  using From = Stored<source>;
  static constexpr std::size_t lanes = int_lanes;

 public:
  using Base::Base;

  /// The largest magnitude of a pixel, as the bits of a bfloat16 or float16 number.
  [[gnu::always_inline]] void measure(std::size_t pixel) const {
    if constexpr (is_half(source)) {
      using Words = VectorOf<std::uint16_t, 2 * lanes>::Type;
      const auto* const from =
          reinterpret_cast<const std::uint16_t*>(o_.source) + pixel * c_.channels;
      Words most = {};
      std::size_t channel = 0;
      for (; channel + 2 * lanes <= c_.channels; channel += 2 * lanes)
        most = larger(most, load<Words>(from + channel) & 0x7fff);
      if (channel < c_.channels) {
        const std::size_t bytes = (c_.channels - channel) * sizeof(std::uint16_t);
        most = larger(most, load<Words>(from + channel, bytes) & 0x7fff);
      }
      magnitudes()[pixel] = largest<2 * lanes>(most);
    }
  }

  [[gnu::always_inline]] void read(std::size_t index) const {
    std::size_t at[side * side];
    this->pixels_of(index, at);
    float factors[side * side];
    set_factors(index, at, factors);
    using Number = typename From::Number;
    const auto* const image = reinterpret_cast<const Number*>(o_.source);
    const auto* const zeros = reinterpret_cast<const Number*>(o_.working + t_.zeros);
    const Number* pixels[side * side];
    for (std::size_t i = 0; i < side * side; ++i)
      pixels[i] = at[i] == Base::outside ? zeros : image + at[i] * c_.channels;
    float* to = this->numbers(index);
    for (std::size_t channel = 0; channel < c_.channels;
         channel += 2 * lanes, to += Base::channels_apart) {
      const std::size_t count = c_.channels - channel;
      if (count >= 2 * lanes)
        read_vector<true>(pixels, {channel, 2 * lanes}, factors, to);
      else
        read_vector<false>(pixels, {channel, count}, factors, to);
    }
  }

  template <std::size_t number>
  [[gnu::always_inline]] void multiply_these(const Piece& piece) const {
    const float* const scales = o_.weights + t_.scales + piece.index * 2 * lanes;
    const auto left = load<Floats>(scales), right = load<Floats>(scales + lanes);
    constexpr std::size_t step = integer_channels / (2 * lanes);
    for (std::size_t first = 0; first < t_.channels; first += step) {
      Ints sums[number][2] = {};
      add_products<number>(piece, first, std::min(first + step, t_.channels), sums);
      float* to = piece.to;
#pragma GCC unroll 16
      for (std::size_t row = 0; row < number; ++row, to += 2 * lanes) {
        Floats x = __builtin_convertvector(sums[row][0], Floats) * left;
        Floats y = __builtin_convertvector(sums[row][1], Floats) * right;
        if (first > 0) {
          x += load<Floats>(to);
          y += load<Floats>(to + lanes);
        }
        store(x, to);
        store(y, to + lanes);
      }
    }
  }

  [[gnu::always_inline]] float factor_of_results(std::size_t index) const {
    return o_.working[t_.factors + index];
  }
  [[gnu::always_inline]] Floats product(const float* from, std::size_t, std::size_t) const {
    return load<Floats>(from);
  }

 private:
  /// Adds the products of these vectors of channels.
  template <std::size_t number>
  [[gnu::always_inline]] void add_products(const Piece& piece, std::size_t first, std::size_t last,
                                           Ints (&sums)[number][2]) const {
    for (std::size_t i = first; i < last; ++i) {
      this->bring(piece, i);
      const float* const from = piece.from + i * Base::channels_apart;
      const float* with = piece.with + i * Base::weights_of_vector;
#pragma GCC unroll 4
      for (std::size_t pair = 0; pair < lanes; ++pair, with += 2 * lanes) {
        const auto left = load<Bits>(with), right = load<Bits>(with + lanes);
#pragma GCC unroll 16
        for (std::size_t row = 0; row < number; ++row) {
          const Bits x = load<std::uint32_t>(from + row * lanes + pair) + Bits{};
          sums[row][0] = with_products(sums[row][0], left, x);
          sums[row][1] = with_products(sums[row][1], right, x);
        }
      }
    }
  }

  template <std::size_t count, class Words>
  [[gnu::always_inline]] static std::uint16_t largest(const Words& words) {
    if constexpr (count == 1) {
      return words[0];
    } else if constexpr (count == 2) {
      return std::max(words[0], words[1]);
    } else {
      using Half = typename VectorOf<std::uint16_t, count / 2>::Type;
      Half halves[2];
      __builtin_memcpy(halves, &words, sizeof words);
      return largest<count / 2>(larger(halves[0], halves[1]));
    }
  }

  [[gnu::always_inline]] std::uint16_t* magnitudes() const {
    return reinterpret_cast<std::uint16_t*>(o_.working + t_.magnitudes);
  }

  /// The largest magnitude of a tile's pixels.
  [[gnu::always_inline]] float largest_of(const std::size_t (&pixels)[side * side]) const {
    if constexpr (source == StoredNumber::u8) return 255;
    if constexpr (source == StoredNumber::s8) return 128;
    std::uint16_t most = 0;
    for (const std::size_t pixel : pixels)
      if (pixel != Base::outside) most = std::max(most, magnitudes()[pixel]);
    return source == StoredNumber::f16 ? from_float16(most) : from_bfloat16(most);
  }

  /// What the numbers at each point are multiplied with, and in the working memory what the tile's
  /// results are.
  [[gnu::always_inline]] void set_factors(std::size_t index,
                                          const std::size_t (&pixels)[side * side],
                                          float (&factors)[side * side]) const {
    constexpr float least = 1e-30f;    // below, numbers count as zero
    constexpr float greatest = 1e36f;  // above, what they are at the points may be infinite
    const float most = largest_of(pixels);
    const bool is_number = most <= greatest;
    o_.working[t_.factors + index] =
        is_number ? most * o_.scale : std::numeric_limits<float>::quiet_NaN();
    const float scale = most > least && is_number ? t_.largest / most : 0.f;
    for (std::size_t i = 0; i < side; ++i)
      for (std::size_t j = 0; j < side; ++j)
        factors[i * side + j] = scale / (gain_at_point(tile, i) * gain_at_point(tile, j));
  }

  template <bool whole>
  [[gnu::always_inline]] void read_vector(const typename From::Number* const* pixels, Range range,
                                          const float (&factors)[side * side], float* to) const {
    const std::size_t count = whole ? 2 * lanes : range.count;
    Bits even[side * side];
    tile_to_points<Floats, side>(
        [&](std::size_t i, std::size_t j) [[gnu::always_inline]] {
          return From::template half<false>(pixels[i * side + j] + range.first, count);
        },
        [&](std::size_t i, std::size_t j, const Floats& v) [[gnu::always_inline]] {
          const std::size_t point = i * side + j;
          even[point] = seen_as<Bits>(v * factors[point] + to_integer) & 0xffffu;
        });
    tile_to_points<Floats, side>(
        [&](std::size_t i, std::size_t j) [[gnu::always_inline]] {
          return From::template half<true>(pixels[i * side + j] + range.first, count);
        },
        [&](std::size_t i, std::size_t j, const Floats& v) [[gnu::always_inline]] {
          const std::size_t point = i * side + j;
          const Bits odd = seen_as<Bits>(v * factors[point] + to_integer) << 16;
          store(odd | even[point], to + point * t_.point_apart);
        });
  }
};

template <std::size_t tile, StoredNumber source, StoredNumber result>
[[gnu::target("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,fma")]] void run_integers(
    const WinogradBlock& block, WinogradPhase phase, std::size_t first, std::size_t last) {
  IntegerLoops<tile, source, result>(block).run(phase, first, last);
}

template <StoredNumber source>
WinogradRun run_to(StoredNumber result) {
  if (result == StoredNumber::f32) return run_integers<4, source, StoredNumber::f32>;
  if (result == StoredNumber::u8) return run_integers<4, source, StoredNumber::u8>;
  return run_integers<4, source, StoredNumber::s8>;
}

}  // namespace

WinogradRun run_of_words(const WinogradConvolution& c) {
  using enum StoredNumber;
  if (c.source == bf16)
    return c.tile == 4 ? run_integers<4, bf16, bf16> : run_integers<2, bf16, bf16>;
  if (c.source == f16) return c.tile == 4 ? run_integers<4, f16, f16> : run_integers<2, f16, f16>;
  return c.source == u8 ? run_to<u8>(c.result) : run_to<s8>(c.result);
}
#endif

}  // namespace millrace::kernels
