#pragma once
// Inside winograd.h's convolutions of integers: vectors of 64 bytes of them, and numbers as they
// are stored.
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/winograd/winograd_loops.h"

#if defined(__x86_64__) && !defined(__clang__)
namespace millrace::kernels {

inline constexpr std::size_t int_lanes = 16;
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
inline constexpr float to_integer = 12582912.f;

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

[[gnu::always_inline]] inline HalfWords to_float16(const Floats& x) {
  HalfWords words;
  asm("vcvtps2ph $0, %1, %0" : "=v"(words) : "v"(x));
  return words;
}
[[gnu::always_inline]] inline Floats from_float16(const HalfWords& words) {
  Floats x;
  asm("vcvtph2ps %1, %0" : "=v"(x) : "v"(words));
  return x;
}

[[gnu::always_inline]] inline Bytes lowest_bytes(const Bits& x) {
  Bytes bytes;
  asm("vpmovdb %1, %0" : "=v"(bytes) : "v"(x));
  return bytes;
}

/// From numbers as they are stored: 16 that follow each other, or of 32 the even or the odd ones;
/// of float16 numbers the first or the last ones.
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

template <>
struct Stored<StoredNumber::f16> {
  using Number = std::uint16_t;
  [[gnu::always_inline]] static Floats get(const Number* from, std::size_t count) {
    return from_float16(load<HalfWords>(from, count * sizeof(Number)));
  }
  [[gnu::always_inline]] static void put(const Floats& x, Number* to, std::size_t count) {
    store(to_float16(x), to, count * sizeof(Number));
  }
  template <bool last>
  [[gnu::always_inline]] static Floats half(const Number* from, std::size_t count) {
    if constexpr (!last) return get(from, std::min(count, int_lanes));
    return get(from + int_lanes, std::max(count, int_lanes) - int_lanes);
  }
};

/// Bytes as wider numbers, 16 as 32 bits or 32 as 16 bits. In assembly, since the compiler takes
/// them apart one by one or in halves.
[[gnu::always_inline]] inline Ints widened(const VectorOf<std::uint8_t, int_lanes>::Type& x) {
  Ints y;
  asm("vpmovzxbd %1, %0" : "=v"(y) : "v"(x));
  return y;
}
[[gnu::always_inline]] inline Ints widened(const VectorOf<std::int8_t, int_lanes>::Type& x) {
  Ints y;
  asm("vpmovsxbd %1, %0" : "=v"(y) : "v"(x));
  return y;
}
using Words = VectorOf<std::int16_t, 2 * int_lanes>::Type;
[[gnu::always_inline]] inline Words widened(const VectorOf<std::uint8_t, 2 * int_lanes>::Type& x) {
  Words y;
  asm("vpmovzxbw %1, %0" : "=v"(y) : "v"(x));
  return y;
}
[[gnu::always_inline]] inline Words widened(const VectorOf<std::int8_t, 2 * int_lanes>::Type& x) {
  Words y;
  asm("vpmovsxbw %1, %0" : "=v"(y) : "v"(x));
  return y;
}

template <class Byte>
struct StoredBytes {
  using Number = Byte;
  using Wide = std::conditional_t<std::is_signed_v<Byte>, std::int16_t, std::uint16_t>;
  using Pairs = typename VectorOf<Wide, int_lanes>::Type;

  [[gnu::always_inline]] static Floats get(const Number* from, std::size_t count) {
    const auto bytes = load<typename VectorOf<Byte, int_lanes>::Type>(from, count);
    return __builtin_convertvector(widened(bytes), Floats);
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

}  // namespace millrace::kernels
#endif
