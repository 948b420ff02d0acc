#include "wire.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <stdexcept>

#include "kernels/float16.h"

namespace millrace_cluster {
namespace {

using millrace::kernels::from_float16;
using millrace::kernels::to_float16;

constexpr float largest_f16 = 65504, largest_int8 = 127;
constexpr double largest_float = std::numeric_limits<float>::max();

std::string to_f16(std::span<const float> values) {
  std::string text(values.size() * sizeof(std::uint16_t), '\0');
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isfinite(values[i]) && std::abs(values[i]) > largest_f16)
      throw std::runtime_error("a value of " + std::to_string(values[i]) +
                               " is beyond what f16 holds; set 'wire: f32' in the file of boards");
    const std::uint16_t half = to_float16(values[i]);
    std::memcpy(text.data() + i * sizeof half, &half, sizeof half);
  }
  return text;
}

std::string to_int8(std::span<const float> values) {
  float largest = 0;
  for (const float value : values) {
    if (!std::isfinite(value))
      throw std::runtime_error(
          "a value is no finite number, which int8 does not hold; set "
          "'wire: f32' in the file of boards");
    largest = std::max(largest, std::abs(value));
  }
  const float scale = largest / largest_int8;
  std::string text(sizeof scale + values.size(), '\0');
  std::memcpy(text.data(), &scale, sizeof scale);
  if (scale > 0)
    for (std::size_t i = 0; i < values.size(); ++i)
      text[sizeof scale + i] = static_cast<char>(
          std::lround(std::clamp(values[i] / scale, -largest_int8, largest_int8)));
  return text;
}

}  // namespace

std::int64_t number_of(const PiecePlace& place) {
  return place.offset * 4 + static_cast<std::int64_t>(place.wire);
}

PiecePlace place_of(std::int64_t number) {
  if (number < 0 || number % 4 > static_cast<std::int64_t>(Wire::int8))
    throw std::runtime_error("a message names no place in a memory");
  return {number / 4, static_cast<Wire>(number % 4)};
}

std::uint64_t encoded_size(Wire wire, std::uint64_t bytes) {
  const std::uint64_t values = bytes / sizeof(float);
  if (wire == Wire::f16) return values * sizeof(std::uint16_t);
  return wire == Wire::int8 ? sizeof(float) + values : bytes;
}

std::uint64_t decoded_size(Wire wire, std::uint64_t bytes) {
  if (wire == Wire::f16) return bytes / sizeof(std::uint16_t) * sizeof(float);
  if (wire == Wire::f32) return bytes;
  return bytes < sizeof(float) ? 0 : (bytes - sizeof(float)) * sizeof(float);
}

std::string encode(Wire wire, const void* values, std::uint64_t bytes) {
  const std::span<const float> all(static_cast<const float*>(values), bytes / sizeof(float));
  if (wire == Wire::f16) return to_f16(all);
  if (wire == Wire::int8) return to_int8(all);
  return {static_cast<const char*>(values), bytes};
}

void decode(Wire wire, const std::string& text, void* values, std::uint64_t bytes) {
  if (text.size() != encoded_size(wire, bytes))
    throw std::runtime_error("a tensor came with another size than it has");
  auto* const to = static_cast<float*>(values);
  const std::uint64_t count = bytes / sizeof(float);
  if (wire == Wire::f32) {
    std::memcpy(values, text.data(), bytes);
  } else if (wire == Wire::f16) {
    for (std::uint64_t i = 0; i < count; ++i) {
      std::uint16_t half = 0;
      std::memcpy(&half, text.data() + i * sizeof half, sizeof half);
      to[i] = from_float16(half);
    }
  } else {
    float scale = 0;
    std::memcpy(&scale, text.data(), sizeof scale);
    for (std::uint64_t i = 0; i < count; ++i)
      to[i] = static_cast<float>(  // 127 times the scale of the largest number is larger
          std::clamp(static_cast<double>(scale) * static_cast<std::int8_t>(text[sizeof scale + i]),
                     -largest_float, largest_float));
  }
}

}  // namespace millrace_cluster
