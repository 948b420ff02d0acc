#include "network/half.h"

#include <bit>
#include <cmath>

namespace millrace::network {

float to_float(Half value) {
  const auto sign = static_cast<std::uint32_t>(value.bits & 0x8000u) << 16;
  const std::uint32_t exponent = (value.bits >> 10) & 31u;
  const std::uint32_t mantissa = value.bits & 1023u;
  if (exponent == 0) {
    const float magnitude = static_cast<float>(mantissa) * 0x1.0p-24f;
    return sign != 0 ? -magnitude : magnitude;
  }
  const std::uint32_t wide = exponent == 31 ? 255u : exponent + 112u;
  return std::bit_cast<float>(sign | wide << 23 | mantissa << 13);
}

Half to_half(double value) {
  const std::uint32_t sign = std::signbit(value) ? 0x8000u : 0u;
  const double magnitude = std::fabs(value);
  std::uint32_t bits = 0;
  if (std::isnan(value)) {
    bits = 0x7e00u;
  } else if (magnitude >= 65520.0) {
    bits = 0x7c00u;
  } else if (magnitude < 0x1.0p-14) {
    bits = static_cast<std::uint32_t>(std::nearbyint(magnitude * 0x1.0p24));
  } else {
    // A mantissa that rounds up to 2048 carries into the exponent, as it should.
    const int exponent = std::ilogb(magnitude);
    const double mantissa = std::nearbyint(std::ldexp(magnitude, 10 - exponent));
    bits = (static_cast<std::uint32_t>(exponent + 15) << 10) +
           static_cast<std::uint32_t>(mantissa) - 1024u;
  }
  return {static_cast<std::uint16_t>(sign | bits)};
}

}  // namespace millrace::network
