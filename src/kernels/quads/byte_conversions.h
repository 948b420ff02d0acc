#pragma once
// Between float32 numbers and the bytes that stand for them, for processors that have a unit of
// byte_unit.h: numbers are multiplied with the inverse of the scale. What is no number becomes some
// byte. On the calling thread and its OpenMP helpers.
#include <cstdint>
#include <span>

#include "kernels/plain/byte_numbers.h"

namespace millrace::kernels {

void bytes_of_numbers(std::span<const float> from, const ByteScale& scale, std::uint8_t* to);
void numbers_of_bytes(std::span<const std::uint8_t> from, const ByteScale& scale, float* to);
/// The same numbers in another scale.
void bytes_of_bytes(std::span<const std::uint8_t> from, const ByteScale& before,
                    const ByteScale& after, std::uint8_t* to);

}  // namespace millrace::kernels
