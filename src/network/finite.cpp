#include "network/finite.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace millrace::network {
namespace {

/// Infinite numbers and NaN have all bits of the exponent set. Without a branch for each value,
/// so that the compiler looks at several at once.
template <class Bits, Bits exponent>
bool has_finite(const Array& array) {
  constexpr std::size_t block = 4096;
  const auto bytes = array.bytes();
  Bits values[block];
  for (std::size_t done = 0; done < bytes.size(); done += sizeof values) {
    const std::size_t size = std::min(sizeof values, bytes.size() - done);
    std::memcpy(values, bytes.data() + done, size);
    int found = 0;
    for (std::size_t i = 0; i < size / sizeof(Bits); ++i)
      found |= (values[i] & exponent) == exponent ? 1 : 0;
    if (found != 0) return false;
  }
  return true;
}

bool is_array_finite(const Array& array) {
  if (!array.memory) return true;  // it has no values
  switch (array.type) {
    case DataType::float32:
      return has_finite<std::uint32_t, 0x7f800000u>(array);
    case DataType::float16:
      return has_finite<std::uint16_t, 0x7c00u>(array);
    case DataType::float64:
      return has_finite<std::uint64_t, 0x7ff0000000000000u>(array);
    default:
      return true;
  }
}

}  // namespace

bool is_finite(std::span<const Array> arrays) {
  return std::all_of(arrays.begin(), arrays.end(), is_array_finite);
}

}  // namespace millrace::network
