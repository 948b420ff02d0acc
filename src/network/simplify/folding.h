#pragma once
// Layers whose values are known before anything runs.
#include <optional>
#include <vector>

#include "network/network.h"

namespace millrace::network {

/// The most memory that constants made while a model is read may take, all together. A model that
/// brings weights may take more, see FoldingBudget::allow_for.
inline constexpr Bytes most_folded{std::int64_t{640} << 20};

/// What may still be spent on constants of one model: a small file must not ask for hours, nor for
/// the machine's memory.
struct FoldingBudget {
  Bytes memory = most_folded;
  /// Four times the size of a weight that the file brings: 8-bit weights become floats.
  void allow_for(Bytes weight) { memory += weight * 4; }
  double steps = 2e9;  // of the loops: some seconds
};

/// What an output of a layer always is.
struct Folded {
  Array value;
  std::optional<Quantized> quantized;  // see Tensor
};

/// The outputs of a layer whose inputs are all constants; an unwanted output gives an empty
/// array. Nothing if an input is not constant, if there are no loops for the layer's types or if
/// the budget does not suffice, from which the outputs' memory and the steps are taken.
std::optional<std::vector<Folded>> fold(const Network& network, LayerId layer,
                                        FoldingBudget& budget);

}  // namespace millrace::network
