#include "network/finite.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "network/evaluate/evaluate.h"

namespace millrace::network {
namespace {

/// Of infinite numbers and NaN all bits of the exponent are set. Without a branch for each value,
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

template <class Float>
bool has_nan(const View& view) {
  const auto count = element_count({view.shape.begin(), view.shape.end()});
  const std::span<const Float> values(view.as<Float>(), static_cast<std::size_t>(count));
  return std::ranges::any_of(values, [](Float value) { return value != value; });
}

bool has_nan(const View& view) {
  constexpr std::uint16_t infinite = 0x7c00, without_sign = 0x7fff;
  if (!view.present()) return false;
  if (view.type == DataType::float32) return has_nan<float>(view);
  if (view.type == DataType::float64) return has_nan<double>(view);
  if (view.type != DataType::float16) return false;
  const auto count = element_count({view.shape.begin(), view.shape.end()});
  return std::any_of(view.as<std::uint16_t>(), view.as<std::uint16_t>() + count,
                     [](std::uint16_t bits) { return (bits & without_sign) > infinite; });
}

}  // namespace

std::string nan_layer_of(const Network& network, std::span<const std::vector<Array>> frames) {
  std::string found;
  for (const auto& frame : frames) {
    if (!is_finite(frame)) continue;
    evaluate(network, frame, [&](LayerId layer, std::span<const View> made) {
      const bool is_it = std::ranges::any_of(made, [](const View& view) { return has_nan(view); });
      if (is_it) found = network[layer].name;
      return !is_it;
    });
    if (!found.empty()) break;
  }
  return found;
}

bool is_finite(std::span<const Array> arrays) {
  return std::all_of(arrays.begin(), arrays.end(), is_array_finite);
}

}  // namespace millrace::network
