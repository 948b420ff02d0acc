#pragma once
// Numbers in half precision.
#include <cstdint>

namespace millrace::network {

/// IEEE binary16, as stored.
struct Half {
  std::uint16_t bits = 0;
};
float to_float(Half value);
/// Rounds to nearest, ties to even; overflows to infinity.
Half to_half(double value);

}  // namespace millrace::network
