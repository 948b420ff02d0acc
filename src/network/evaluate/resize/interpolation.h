#pragma once
// Where the elements of a resized tensor come from.
#include <cstdint>
#include <span>
#include <vector>

#include "network/operators.h"

namespace millrace::network {

/// How one axis of the output is made of the input: `taps` positions and weights per output.
struct Interpolation {
  std::size_t taps = 1;
  std::vector<std::int64_t> positions;
  std::vector<double> weights;
  std::vector<bool> outside;  // by output: the value is the extrapolation value
  bool identity = true;       // then there are none of these
};

/// By dimension.
std::vector<Interpolation> interpolations(const Resize& op, std::span<const std::int64_t> in,
                                          std::span<const std::int64_t> out);

}  // namespace millrace::network
