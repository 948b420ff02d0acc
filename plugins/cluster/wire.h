// In what float32 tensors cross a link.
#pragma once
#include <cstdint>
#include <string>

namespace millrace_cluster {

enum class Wire : std::int64_t {
  f32 = 0,   // as they are
  f16 = 1,   // half precision, to the nearest
  int8 = 2,  // a float32 scale for each piece, then whole numbers from -127 to 127
};

/// Where a piece lies in its memory, and how it crosses the link.
struct PiecePlace {
  std::int64_t offset = 0;  // bytes
  Wire wire = Wire::f32;
};
/// As one number of a message, and back: std::runtime_error if it is none.
std::int64_t number_of(const PiecePlace& place);
PiecePlace place_of(std::int64_t number);

/// `bytes` of float32 values. std::runtime_error if a value is beyond what the wire holds.
std::string encode(Wire wire, const void* values, std::uint64_t bytes);
/// Into `bytes` of float32 values. std::runtime_error if `text` is not of that size.
void decode(Wire wire, const std::string& text, void* values, std::uint64_t bytes);
/// What encode() makes of so many bytes, and the other way.
std::uint64_t encoded_size(Wire wire, std::uint64_t bytes);
std::uint64_t decoded_size(Wire wire, std::uint64_t bytes);

}  // namespace millrace_cluster
