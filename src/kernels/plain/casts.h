#pragma once
// Integers as numbers.
#include <cstdint>
#include <span>

namespace millrace::kernels {

/// Each integer's nearest number. Runs on the calling thread and its OpenMP helpers.
void write_numbers_of(std::span<const std::int8_t> from, float* to);
void write_numbers_of(std::span<const std::uint8_t> from, float* to);
void write_numbers_of(std::span<const std::int32_t> from, float* to);
void write_numbers_of(std::span<const std::int64_t> from, float* to);
/// 1 for bytes other than 0.
void write_truths_of(std::span<const std::uint8_t> from, float* to);

}  // namespace millrace::kernels
