#include "formats/seeded_values.h"

#include <charconv>
#include <cmath>
#include <cstring>

#include "base/hash.h"
#include "base/random.h"

namespace millrace::formats {
namespace {

std::uint64_t seed_of(const std::string& tensor, std::uint64_t seed) {
  const std::string digits =
      Hasher().add(tensor).add(static_cast<std::int64_t>(seed)).digits().substr(0, 16);
  std::uint64_t number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number, 16);
  return number;
}

}  // namespace

Spread he_spread(std::int64_t fan_in) {
  return {0, static_cast<float>(std::sqrt(6.0 / static_cast<double>(fan_in)))};
}

void fill_seeded(std::span<std::byte> memory, const std::string& name, std::uint64_t seed,
                 const Spread& spread) {
  Random random(seed_of(name, seed));
  for (std::size_t i = 0; i + sizeof(float) <= memory.size(); i += sizeof(float)) {
    // Where the centre is not 0 the width is a power of two: the product is exact, and fusing
    // it with the sum, as some compilers do, cannot change the result.
    const auto step = static_cast<std::int32_t>(random() >> 40) - (1 << 23);
    const float value = spread.centre + spread.width * (static_cast<float>(step) * 0x1.0p-23f);
    std::memcpy(memory.data() + i, &value, sizeof value);
  }
}

}  // namespace millrace::formats
