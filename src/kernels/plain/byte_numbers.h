#pragma once
// Numbers that 8-bit integers stand for: integer = number / scale + zero, rounded, halves to the
// even integer, and clamped; number = (integer - zero) * scale.
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace millrace::kernels {

/// What integers of one type stand for. Bytes are those of the type, signed or not.
struct ByteScale {
  float scale = 1;
  std::int32_t zero = 0;
  bool is_signed = false;
};
// All but rescale() and turn_signs() run on the calling thread and its OpenMP helpers.

/// Not a number becomes the least integer.
void quantize_numbers(std::span<const float> from, const ByteScale& scale, std::uint8_t* to);
void dequantize_bytes(std::span<const std::uint8_t> from, const ByteScale& scale, float* to);

/// What becomes of each of the 256 bytes.
using ByteTable = std::array<std::uint8_t, 256>;
void look_up_bytes(std::span<const std::uint8_t> from, const ByteTable& table, std::uint8_t* to);

struct ScaledBytes {
  std::span<const std::uint8_t> bytes;
  ByteScale scale;
};
enum class ByteOperation { add, subtract, multiply };
/// With `is_positive` what is negative becomes 0 before it is quantised.
struct ByteCombination {
  ByteOperation operation = ByteOperation::add;
  bool is_positive = false;
  ByteScale to;
};
/// Combines two tensors of one size, element by element; the numbers between are never stored.
void combine_bytes(const ScaledBytes& a, const ScaledBytes& b, const ByteCombination& combination,
                   std::uint8_t* to);

struct NumberRange {
  float low = 0, high = 0;
};
/// With 0 in it; what is no number is passed over.
NumberRange range_of(std::span<const float> numbers);

/// Sums of products to bytes: (sum + bias) * factor + zero, rounded and clamped.
struct ByteRescaling {
  const std::int32_t* bias = nullptr;  // by column; may be null
  const float* factors = nullptr;      // by column
  std::int32_t zero = 0;
  bool is_signed = false;
};
/// Rows of sums, `apart` from one to the next.
struct SumRows {
  std::size_t count = 1, columns = 1, apart = 1;
  const std::int32_t* sums = nullptr;
};
/// `to` is dense.
void rescale(const SumRows& rows, const ByteRescaling& rescaling, std::uint8_t* to);

/// Signed integers become unsigned ones that are larger by 128, and these signed ones.
void turn_signs(std::uint8_t* bytes, std::size_t count);

}  // namespace millrace::kernels
