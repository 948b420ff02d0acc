// Winograd convolutions whose factors are 8-bit integers, multiplied four at once, in tiles of 2x2
// results: what pixels of 8 bits are at the points is exact in 16 bits, and then rounded, each
// point of a tile by its largest magnitude. Pixels are shifted by 128 to have no sign, as the
// instruction wants them; what that adds to the sums is known beforehand.
#include "kernels/winograd/winograd_integers.h"

namespace millrace::kernels {

#if defined(__x86_64__) && !defined(__clang__)
namespace {

using Quads = VectorOf<std::int8_t, 4 * int_lanes>::Type;

/// To each sum the four products of 8-bit numbers in its lane; the pixels' have no sign.
[[gnu::always_inline]] inline Ints with_quads(Ints sums, const Bits& pixels, const Bits& weights) {
  asm("vpdpbusd %2, %1, %0" : "+v"(sums) : "v"(pixels), "v"(weights));
  return sums;
}

/// x * y / 2^15, to the nearest.
[[gnu::always_inline]] inline Words scaled(const Words& x, const Words& y) {
  Words product;
  asm("vpmulhrsw %2, %1, %0" : "=v"(product) : "v"(x), "v"(y));
  return product;
}

/// As 8 bits: in turn 8 of the one and 8 of the other.
[[gnu::always_inline]] inline Quads packed(const Words& x, const Words& y) {
  Quads bytes;
  asm("vpacksswb %2, %1, %0" : "=v"(bytes) : "v"(x), "v"(y));
  return bytes;
}

/// The least of 8 numbers without a sign.
[[gnu::always_inline]] inline std::uint16_t least_of(const VectorOf<std::uint16_t, 8>::Type& x) {
  VectorOf<std::uint16_t, 8>::Type least;
  asm("vphminposuw %1, %0" : "=x"(least) : "x"(x));
  return least[0];
}

[[gnu::always_inline]] inline std::uint16_t largest_of(const Words& magnitudes) {
  using Half = VectorOf<std::uint16_t, int_lanes>::Type;
  using Quarter = VectorOf<std::uint16_t, int_lanes / 2>::Type;
  Half halves[2];
  __builtin_memcpy(halves, &magnitudes, sizeof magnitudes);
  const Half most = halves[0] > halves[1] ? halves[0] : halves[1];
  Quarter quarters[2];
  __builtin_memcpy(quarters, &most, sizeof most);
  const Quarter of_most = quarters[0] > quarters[1] ? quarters[0] : quarters[1];
  return static_cast<std::uint16_t>(~least_of(~of_most));
}

template <StoredNumber source, StoredNumber result>
class ByteLoops : public IntegerBase<ByteLoops<source, result>, 2, 4, result> {
  using Base = IntegerBase<ByteLoops, 2, 4, result>;
  using Piece = typename Base::Piece;
  using Range = typename Base::Range;
  using Base::c_, Base::t_, Base::o_, Base::side, Base::larger;
  using Number = typename Stored<source>::Number;
  static constexpr std::size_t lanes = int_lanes;
  static constexpr std::size_t points = side * side;

 public:
  using Base::Base;

  [[gnu::always_inline]] void measure(std::size_t) const {}

  [[gnu::always_inline]] void read(std::size_t index) const {
    std::size_t at[points];
    this->pixels_of(index, at);
    const auto* const image = reinterpret_cast<const Number*>(o_.source);
    const auto* const zeros = reinterpret_cast<const Number*>(o_.working + t_.zeros);
    const Number* pixels[points];
    for (std::size_t i = 0; i < points; ++i)
      pixels[i] = at[i] == Base::outside ? zeros : image + at[i] * c_.channels;
    std::uint32_t times[points];
    set_factors(index, pixels, times);
    float* to = this->numbers(index);
    for (std::size_t channel = 0; channel < c_.channels;
         channel += 4 * lanes, to += Base::channels_apart)
      read_vector(pixels, channel, times, to);
  }

  template <std::size_t number>
  [[gnu::always_inline]] void multiply_these(const Piece& piece) const {
    Ints sums[number][2] = {};
    for (std::size_t i = 0; i < t_.channels; ++i) {
      this->bring(piece, i);
      const float* const from = piece.from + i * Base::channels_apart;
      const float* with = piece.with + i * Base::weights_of_vector;
#pragma GCC unroll 4
      for (std::size_t quad = 0; quad < lanes; ++quad, with += 2 * lanes) {
        const auto left = load<Bits>(with), right = load<Bits>(with + lanes);
#pragma GCC unroll 16
        for (std::size_t row = 0; row < number; ++row) {
          const Bits x = load<std::uint32_t>(from + row * lanes + quad) + Bits{};
          sums[row][0] = with_quads(sums[row][0], x, left);
          sums[row][1] = with_quads(sums[row][1], x, right);
        }
      }
    }
    const float* const scales = o_.weights + t_.scales + piece.index * 2 * lanes;
    const float* const shifts = scales + t_.points * t_.outputs * 2 * lanes;
    float* to = piece.to;
    for (std::size_t row = 0; row < number; ++row, to += 2 * lanes)
#pragma GCC unroll 2
      for (std::size_t half = 0; half < 2; ++half) {
        const Ints sum = sums[row][half] - load<Ints>(shifts + half * lanes);
        store(__builtin_convertvector(sum, Floats) * load<Floats>(scales + half * lanes),
              to + half * lanes);
      }
  }

  [[gnu::always_inline]] float factor_of_results(std::size_t) const { return o_.scale; }
  [[gnu::always_inline]] Floats product(const float* from, std::size_t index,
                                        std::size_t point) const {
    return load<Floats>(from) * factors(index)[point];
  }

 private:
  /// By point: what a tile's numbers there were divided by.
  [[gnu::always_inline]] float* factors(std::size_t index) const {
    return o_.working + t_.factors + index * points;
  }

  /// 32 channels at the points, as `put(point, numbers)` takes them.
  template <class Put>
  [[gnu::always_inline]] void for_points(const Number* const (&pixels)[points], std::size_t channel,
                                         const Put& put) const {
    using Bytes32 = typename VectorOf<Number, 2 * lanes>::Type;
    const std::size_t left = channel < c_.channels ? c_.channels - channel : 0;
    const auto transform = [&](std::size_t count) [[gnu::always_inline]] {
      tile_to_points<Words, side>(
          [&](std::size_t i, std::size_t j) [[gnu::always_inline]] {
            const Number* const from = pixels[i * side + j] + channel;
            return widened(load<Bytes32>(from, count));
          },
          [&](std::size_t i, std::size_t j, const Words& v)
              [[gnu::always_inline]] { put(i * side + j, v); });
    };
    if (left >= 2 * lanes)
      transform(2 * lanes);
    else
      transform(left);
  }

  /// What numbers at each point are multiplied with, in 2^-15, so that they fit into 8 bits: twice
  /// side by side. And in the working memory the inverse.
  [[gnu::always_inline]] void set_factors(std::size_t index, const Number* const (&pixels)[points],
                                          std::uint32_t (&times)[points]) const {
    static_assert(points == int_lanes);
    Words most[points] = {};
    for (std::size_t channel = 0; channel < c_.channels; channel += 2 * lanes)
      for_points(pixels, channel, [&](std::size_t point, const Words& v) [[gnu::always_inline]] {
        most[point] = larger(most[point], v < 0 ? -v : v);
      });
    std::int32_t each[points];
#pragma GCC unroll 16
    for (std::size_t point = 0; point < points; ++point) each[point] = largest_of(most[point]);
    constexpr float one = 32768, largest = 127;
    const Floats magnitudes = __builtin_convertvector(load<Ints>(each), Floats);
    const Floats down = (largest * one - 0.5f) / magnitudes;
    // One less than 1 leaves what fits as it is.
    const Ints factors =
        __builtin_convertvector(magnitudes > largest ? down : one - 1 - Floats{}, Ints);
    store(factors | factors << 16, times);
    const Floats inverse = one / __builtin_convertvector(factors, Floats);
    store(magnitudes > largest ? inverse : 1 - Floats{}, this->factors(index));
  }

  [[gnu::always_inline]] void read_vector(const Number* const (&pixels)[points],
                                          std::size_t channel, const std::uint32_t (&times)[points],
                                          float* to) const {
    const Quads sign = std::int8_t{-128} + Quads{};
    Words first[points];
    for_points(pixels, channel, [&](std::size_t point, const Words& v) [[gnu::always_inline]] {
      first[point] = scaled(v, seen_as<Words>(times[point] + Bits{}));
    });
    for_points(pixels, channel + 2 * lanes,
               [&](std::size_t point, const Words& v) [[gnu::always_inline]] {
                 const Quads signless =
                     packed(first[point], scaled(v, seen_as<Words>(times[point] + Bits{}))) ^ sign;
                 store(signless, to + point * t_.point_apart);
               });
  }
};

template <StoredNumber source, StoredNumber result>
[[gnu::target("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,fma")]] void run_bytes(
    const WinogradBlock& block, WinogradPhase phase, std::size_t first, std::size_t last) {
  ByteLoops<source, result>(block).run(phase, first, last);
}

template <StoredNumber source>
WinogradRun run_to_stored(StoredNumber result) {
  if (result == StoredNumber::f32) return run_bytes<source, StoredNumber::f32>;
  if (result == StoredNumber::u8) return run_bytes<source, StoredNumber::u8>;
  return run_bytes<source, StoredNumber::s8>;
}

}  // namespace

WinogradRun run_of_bytes(const WinogradConvolution& c) {
  return c.source == StoredNumber::u8 ? run_to_stored<StoredNumber::u8>(c.result)
                                      : run_to_stored<StoredNumber::s8>(c.result);
}
#endif

}  // namespace millrace::kernels
