#include "kernels/plain/byte_numbers.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <array>

#include "kernels/plain/pieces.h"

namespace millrace::kernels {
namespace {

struct ByteLimits {
  float low, high, zero;

  ByteLimits(std::int32_t zero_point, bool is_signed)
      : low(static_cast<float>((is_signed ? -128 : 0) - zero_point)),
        high(static_cast<float>((is_signed ? 127 : 255) - zero_point)),
        zero(static_cast<float>(zero_point)) {}

  /// The bounds are whole numbers, so clamping first changes nothing, and it keeps the sum with
  /// 1.5 * 2^23 where float32 has whole numbers only: adding it rounds, halves to the even one.
  [[gnu::always_inline]] std::uint8_t nearest(float x) const {
    x = x > low ? x : low;
    x = x < high ? x : high;
    x = (x + 0x1.8p23f) - 0x1.8p23f;
    return static_cast<std::uint8_t>(static_cast<std::int32_t>(x + zero));
  }
};

#if defined(__x86_64__) && !defined(__clang__)
[[gnu::target_clones("avx512f", "arch=x86-64-v3", "default")]]
#endif
void quantize_piece(std::span<const float> from, const ByteScale& scale,
                    std::uint8_t* __restrict to) {
  const ByteLimits limits(scale.zero, scale.is_signed);
  for (std::size_t i = 0; i < from.size(); ++i) to[i] = limits.nearest(from[i] / scale.scale);
}

#if defined(__x86_64__) && !defined(__clang__)
[[gnu::target_clones("avx512f", "arch=x86-64-v3", "default")]]
#endif
void dequantize_piece(std::span<const std::uint8_t> from, const ByteScale& scale,
                      float* __restrict to) {
  // A signed byte with its sign bit turned is the integer plus 128.
  const std::int32_t turned = scale.is_signed ? 128 : 0, zero = scale.zero + turned;
  for (std::size_t i = 0; i < from.size(); ++i)
    to[i] = static_cast<float>((std::int32_t{from[i]} ^ turned) - zero) * scale.scale;
}

#if defined(__x86_64__) && !defined(__clang__)
[[gnu::target_clones("avx512f", "arch=x86-64-v3", "default")]]
#endif
NumberRange
range_of_piece(std::span<const float> numbers) {
  float low = 0, high = 0;
#if defined(_OPENMP)
#pragma omp simd reduction(min : low) reduction(max : high)
#endif
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    low = numbers[i] < low ? numbers[i] : low;
    high = numbers[i] > high ? numbers[i] : high;
  }
  return {low, high};
}

#if defined(__x86_64__) && !defined(__clang__)
[[gnu::target_clones("avx512f", "arch=x86-64-v3", "default")]]
#endif
void combine_piece(std::span<float> a, const float* __restrict b,
                   const ByteCombination& combination) {
  switch (combination.operation) {
    case ByteOperation::add:
      for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
      break;
    case ByteOperation::subtract:
      for (std::size_t i = 0; i < a.size(); ++i) a[i] -= b[i];
      break;
    case ByteOperation::multiply:
      for (std::size_t i = 0; i < a.size(); ++i) a[i] *= b[i];
      break;
  }
  if (combination.is_positive)
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = a[i] > 0 ? a[i] : 0;
}

void look_up_each(std::span<const std::uint8_t> from, const ByteTable& table, std::uint8_t* to) {
  for (std::size_t i = 0; i < from.size(); ++i) to[i] = table[from[i]];
}

#if defined(__x86_64__)
/// 64 at once: the table lies in four registers, of which an instruction reads two.
[[gnu::target("avx512vbmi,avx512bw")]] void look_up_64_each(std::span<const std::uint8_t> from,
                                                            const ByteTable& table,
                                                            std::uint8_t* to) {
  const __m512i quarters[4] = {
      _mm512_loadu_si512(table.data()), _mm512_loadu_si512(table.data() + 64),
      _mm512_loadu_si512(table.data() + 128), _mm512_loadu_si512(table.data() + 192)};
  std::size_t i = 0;
  for (; i + 64 <= from.size(); i += 64) {
    const __m512i bytes = _mm512_loadu_si512(from.data() + i);
    const __m512i low = _mm512_permutex2var_epi8(quarters[0], bytes, quarters[1]);
    const __m512i high = _mm512_permutex2var_epi8(quarters[2], bytes, quarters[3]);
    _mm512_storeu_si512(to + i, _mm512_mask_blend_epi8(_mm512_movepi8_mask(bytes), low, high));
  }
  look_up_each(from.subspan(i), table, to + i);
}
#endif

void look_up_piece(std::span<const std::uint8_t> from, const ByteTable& table, std::uint8_t* to) {
#if defined(__x86_64__)
  static const bool has_vbmi = __builtin_cpu_supports("avx512vbmi") != 0;
  if (has_vbmi) return look_up_64_each(from, table, to);
#endif
  look_up_each(from, table, to);
}

}  // namespace

void quantize_numbers(std::span<const float> from, const ByteScale& scale, std::uint8_t* to) {
  in_pieces(from.size(), worthwhile, [&](std::size_t first, std::size_t last) {
    quantize_piece(from.subspan(first, last - first), scale, to + first);
  });
}

void dequantize_bytes(std::span<const std::uint8_t> from, const ByteScale& scale, float* to) {
  in_pieces(from.size(), worthwhile, [&](std::size_t first, std::size_t last) {
    dequantize_piece(from.subspan(first, last - first), scale, to + first);
  });
}

void look_up_bytes(std::span<const std::uint8_t> from, const ByteTable& table, std::uint8_t* to) {
  in_pieces(from.size(), 4 * worthwhile, [&](std::size_t first, std::size_t last) {
    look_up_piece(from.subspan(first, last - first), table, to + first);
  });
}

void combine_bytes(const ScaledBytes& a, const ScaledBytes& b, const ByteCombination& combination,
                   std::uint8_t* to) {
  in_pieces(a.bytes.size(), worthwhile, [&](std::size_t first, std::size_t last) {
    std::array<float, 1024> left, right;
    for (std::size_t at = first; at < last; at += left.size()) {
      const std::size_t count = std::min(left.size(), last - at);
      dequantize_piece(a.bytes.subspan(at, count), a.scale, left.data());
      dequantize_piece(b.bytes.subspan(at, count), b.scale, right.data());
      combine_piece({left.data(), count}, right.data(), combination);
      quantize_piece({left.data(), count}, combination.to, to + at);
    }
  });
}

NumberRange range_of(std::span<const float> numbers) {
  float low = 0, high = 0;
  const auto pieces = static_cast<std::ptrdiff_t>((numbers.size() + worthwhile - 1) / worthwhile);
#if defined(_OPENMP)
#pragma omp parallel for schedule(static) reduction(min : low) reduction(max : high) if (pieces > 1)
#endif
  for (std::ptrdiff_t i = 0; i < pieces; ++i) {
    const std::size_t first = static_cast<std::size_t>(i) * worthwhile;
    const NumberRange range =
        range_of_piece(numbers.subspan(first, std::min(worthwhile, numbers.size() - first)));
    low = std::min(low, range.low);
    high = std::max(high, range.high);
  }
  return {low, high};
}

#if defined(__x86_64__) && !defined(__clang__)
[[gnu::target_clones("avx512f", "arch=x86-64-v3", "default")]]
#endif
void rescale(const SumRows& rows, const ByteRescaling& rescaling, std::uint8_t* __restrict to) {
  const ByteLimits limits(rescaling.zero, rescaling.is_signed);
  const float* const factors = rescaling.factors;
  const std::int32_t* const bias = rescaling.bias;
  const std::size_t columns = rows.columns;
  for (std::size_t r = 0; r < rows.count; ++r, to += columns) {
    const std::int32_t* const sums = rows.sums + r * rows.apart;
    if (bias)
      for (std::size_t i = 0; i < columns; ++i)
        to[i] = limits.nearest(static_cast<float>(sums[i] + bias[i]) * factors[i]);
    else
      for (std::size_t i = 0; i < columns; ++i)
        to[i] = limits.nearest(static_cast<float>(sums[i]) * factors[i]);
  }
}

#if defined(__x86_64__) && !defined(__clang__)
[[gnu::target_clones("avx512f", "arch=x86-64-v3", "default")]]
#endif
void turn_signs(std::uint8_t* bytes, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) bytes[i] ^= 0x80;
}

}  // namespace millrace::kernels
