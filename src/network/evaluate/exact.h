#pragma once
// Networks in float64: what float32 is measured with.
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "network/network.h"

namespace millrace::network {

/// As evaluate(), but every float32 tensor and constant is float64, so its outputs are too. Layers
/// without loops in float64, such as quantised ones, compute in float32.
/// `rounding`: a seed. Each result is then moved by chance, as far as float32 rounds it.
std::vector<Array> evaluate_in_float64(const Network& network, std::span<const Array> inputs,
                                       std::optional<std::uint64_t> rounding = {});

}  // namespace millrace::network
