#include "network/evaluate/nan_layer.h"

#include <algorithm>
#include <cstdint>

#include "network/evaluate/evaluate.h"
#include "network/finite.h"

namespace millrace::network {
namespace {

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

}  // namespace millrace::network
