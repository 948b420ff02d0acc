// Winograd convolutions whose factors are 16-bit integers, multiplied in pairs: twice as many at
// once as float32 numbers. The pixels of a tile are scaled by their largest magnitude, so that what
// they are at the points just fits; the weights of an output at a point are scaled so that no sum
// can leave 32 bits.
#include <cstdint>
#include <limits>
#include <type_traits>

#include "engine/onednn/bfloat16.h"
#include "engine/onednn/winograd_loops.h"
#include "engine/onednn/winograd_points.h"

namespace millrace::engine::onednn {

#if defined(__x86_64__)
namespace {

constexpr std::size_t int_lanes = 16;
using Floats = VectorOf<float, int_lanes>::Type;
using Bits = VectorOf<std::uint32_t, int_lanes>::Type;
using Ints = VectorOf<std::int32_t, int_lanes>::Type;
using Bytes = VectorOf<std::uint8_t, int_lanes>::Type;
using HalfWords = VectorOf<std::uint16_t, int_lanes>::Type;

template <class To, class From>
[[gnu::always_inline]] inline To seen_as(const From& x) {
  static_assert(sizeof(To) == sizeof(From));
  return load<To>(&x);
}

/// Added to a number below 2^22, leaves its nearest integer in the lowest bits.
constexpr float to_integer = 12582912.f;

/// To each sum the two products of 16-bit numbers in its lane.
[[gnu::always_inline]] inline Ints with_products(Ints sums, const Bits& left, const Bits& right) {
  asm("vpdpwssd %2, %1, %0" : "+v"(sums) : "v"(left), "v"(right));
  return sums;
}

[[gnu::always_inline]] inline HalfWords to_bfloat16(const Floats& x) {
  HalfWords words;
  asm("vcvtneps2bf16 %1, %0" : "=v"(words) : "v"(x));
  return words;
}

[[gnu::always_inline]] inline Bytes lowest_bytes(const Bits& x) {
  Bytes bytes;
  asm("vpmovdb %1, %0" : "=v"(bytes) : "v"(x));
  return bytes;
}

/// From numbers as they are stored: 16 that follow each other, or of 32 the even or the odd ones.
template <StoredNumber number>
struct Stored;

template <>
struct Stored<StoredNumber::f32> {
  using Number = float;
  [[gnu::always_inline]] static Floats get(const Number* from, std::size_t count) {
    return load<Floats>(from, count * sizeof(Number));
  }
  [[gnu::always_inline]] static void put(const Floats& x, Number* to, std::size_t count) {
    store(x, to, count * sizeof(Number));
  }
};

template <>
struct Stored<StoredNumber::bf16> {
  using Number = std::uint16_t;
  [[gnu::always_inline]] static Floats get(const Number* from, std::size_t count) {
    const auto words = load<HalfWords>(from, count * sizeof(Number));
    return seen_as<Floats>(__builtin_convertvector(words, Bits) << 16);
  }
  [[gnu::always_inline]] static void put(const Floats& x, Number* to, std::size_t count) {
    store(to_bfloat16(x), to, count * sizeof(Number));
  }
  template <bool odd>
  [[gnu::always_inline]] static Floats half(const Number* from, std::size_t count) {
    const auto pairs = load<Bits>(from, count * sizeof(Number));
    return seen_as<Floats>(odd ? pairs & 0xffff0000u : pairs << 16);
  }
};

template <class Byte>
struct StoredBytes {
  using Number = Byte;
  using Wide = std::conditional_t<std::is_signed_v<Byte>, std::int16_t, std::uint16_t>;
  using Pairs = typename VectorOf<Wide, int_lanes>::Type;

  [[gnu::always_inline]] static Floats get(const Number* from, std::size_t count) {
    const auto bytes = load<typename VectorOf<Byte, int_lanes>::Type>(from, count);
    return __builtin_convertvector(__builtin_convertvector(bytes, Ints), Floats);
  }
  [[gnu::always_inline]] static void put(Floats x, Number* to, std::size_t count) {
    const Floats low = Floats{} + float{std::numeric_limits<Byte>::min()};
    const Floats high = Floats{} + float{std::numeric_limits<Byte>::max()};
    x = x < low ? low : x;
    x = x > high ? high : x;
    store(lowest_bytes(seen_as<Bits>(x + to_integer)), to, count);
  }
  template <bool odd>
  [[gnu::always_inline]] static Floats half(const Number* from, std::size_t count) {
    const auto pairs = __builtin_convertvector(load<Pairs>(from, count), Ints);
    if constexpr (odd) return __builtin_convertvector(pairs >> 8, Floats);
    if constexpr (std::is_signed_v<Byte>)
      return __builtin_convertvector((pairs << 24) >> 24, Floats);
    return __builtin_convertvector(pairs & 0xff, Floats);
  }
};
template <>
struct Stored<StoredNumber::u8> : StoredBytes<std::uint8_t> {};
template <>
struct Stored<StoredNumber::s8> : StoredBytes<std::int8_t> {};

template <std::size_t tile, StoredNumber source, StoredNumber result>
class IntegerLoops : public WinogradLoops<IntegerLoops<tile, source, result>, int_lanes, tile, 8> {
  using Base = WinogradLoops<IntegerLoops, int_lanes, tile, 8>;
  using Piece = typename Base::Piece;
  using Base::c_, Base::t_, Base::o_, Base::side;
  using From = Stored<source>;
  using To = Stored<result>;
  static constexpr std::size_t lanes = int_lanes;

 public:
  using Base::Base;

  /// The largest magnitude of a pixel, as the bits of a bfloat16 number.
  [[gnu::always_inline]] void measure(std::size_t pixel) const {
    if constexpr (source == StoredNumber::bf16) {
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
    float* to = o_.working + index * lanes;
    for (std::size_t channel = 0; channel < c_.channels;
         channel += 2 * lanes, to += t_.block * lanes) {
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
      for (std::size_t row = 0; row < number; ++row, to += t_.points * 2 * lanes) {
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

  [[gnu::always_inline]] void write(std::size_t index) const {
    const auto results = this->results_of(index);
    const float factor = o_.working[t_.factors + index];
    for (std::size_t output = 0; output < c_.outputs; output += lanes) {
      const float* const from = this->products(index, output / (2 * lanes)) + output % (2 * lanes);
      const std::size_t count = c_.outputs - output;
      if (count >= lanes)
        write_vector<true>(from, {output, lanes}, results, factor);
      else
        write_vector<false>(from, {output, count}, results, factor);
    }
  }

 private:
  /// Channels or outputs that follow each other.
  struct Range {
    std::size_t first, count;
  };

  /// Of these vectors of channels.
  template <std::size_t number>
  [[gnu::always_inline]] void add_products(const Piece& piece, std::size_t first, std::size_t last,
                                           Ints (&sums)[number][2]) const {
    for (std::size_t i = first; i < last; ++i) {
      this->bring(piece, i);
      const float* const from = piece.from + i * t_.block * lanes;
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

  template <class Words>
  [[gnu::always_inline]] static Words larger(const Words& x, const Words& y) {
    return x > y ? x : y;
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

  /// Of a tile's pixels.
  [[gnu::always_inline]] float largest_of(const std::size_t (&pixels)[side * side]) const {
    if constexpr (source == StoredNumber::u8) return 255;
    if constexpr (source == StoredNumber::s8) return 128;
    std::uint16_t most = 0;
    for (const std::size_t pixel : pixels)
      if (pixel != Base::outside) most = std::max(most, magnitudes()[pixel]);
    return from_bfloat16(most);
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

  template <bool whole>
  [[gnu::always_inline]] void write_vector(const float* from, Range range,
                                           const typename Base::Results& results,
                                           float factor) const {
    const std::size_t count = whole ? lanes : range.count;
    const Floats bias =
        o_.bias == nullptr ? Floats{} : load<Floats>(o_.bias + range.first, count * sizeof(float));
    auto* const first = reinterpret_cast<typename To::Number*>(o_.result) +
                        results.pixel * c_.outputs + range.first;
    tile_from_points<Floats, tile>(
        [&](std::size_t i, std::size_t j)
            [[gnu::always_inline]] { return load<Floats>(from + (i * side + j) * 2 * lanes); },
        [&](std::size_t i, std::size_t j, Floats y) [[gnu::always_inline]] {
          if (i >= results.down || j >= results.across) return;
          auto* const at = first + (i * c_.width.output + j) * c_.outputs;
          y = y * factor + bias;
          if (c_.adds) y += c_.added_scale * added(at, count);
          To::put(this->finish(y), at, count);
        });
  }

  /// As wide as results, but perhaps with another sign.
  [[gnu::always_inline]] Floats added(const typename To::Number* from, std::size_t count) const {
    if constexpr (sizeof(typename To::Number) == 1) {
      if (c_.added == StoredNumber::u8)
        return Stored<StoredNumber::u8>::get(reinterpret_cast<const std::uint8_t*>(from), count);
      return Stored<StoredNumber::s8>::get(reinterpret_cast<const std::int8_t*>(from), count);
    } else {
      return To::get(from, count);
    }
  }
};

template <std::size_t tile, StoredNumber source, StoredNumber result>
[[gnu::target("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,fma")]] void run_integers(
    const WinogradBlock& block, WinogradPhase phase, std::size_t first, std::size_t last) {
  IntegerLoops<tile, source, result>(block).run(phase, first, last);
}

template <std::size_t tile, StoredNumber source>
WinogradRun run_to(StoredNumber result) {
  if (result == StoredNumber::f32) return run_integers<tile, source, StoredNumber::f32>;
  if (result == StoredNumber::u8) return run_integers<tile, source, StoredNumber::u8>;
  return run_integers<tile, source, StoredNumber::s8>;
}

template <std::size_t tile>
WinogradRun run_from(const WinogradConvolution& c) {
  if (c.source == StoredNumber::bf16)
    return run_integers<tile, StoredNumber::bf16, StoredNumber::bf16>;
  return c.source == StoredNumber::u8 ? run_to<tile, StoredNumber::u8>(c.result)
                                      : run_to<tile, StoredNumber::s8>(c.result);
}

}  // namespace

WinogradRun run_of_integers(const WinogradConvolution& c) {
  return c.tile == 4 ? run_from<4>(c) : run_from<2>(c);
}
#else
WinogradRun run_of_integers(const WinogradConvolution&) { return nullptr; }
#endif

}  // namespace millrace::engine::onednn
