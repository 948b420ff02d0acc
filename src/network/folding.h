#pragma once
// Layers whose values are known before anything runs.
#include <optional>
#include <vector>

#include "network/network.h"

namespace millrace::network {

/// The most memory that constants made while a model is read may take, all together.
inline constexpr Bytes most_folded{std::int64_t{4} << 30};

/// What an output of a layer always is.
struct Folded {
  Array value;
  std::optional<Quantized> quantized;  // see Tensor
};

/// The outputs of a layer whose inputs are all constants; an unwanted output gives an empty
/// array. Nothing if an input is not constant, if there are no loops for the layer's types, if the
/// outputs are larger than `most` or if computing them would take long.
std::optional<std::vector<Folded>> fold(const Network& network, LayerId layer, Bytes most);

}  // namespace millrace::network
