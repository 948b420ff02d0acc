#pragma once
// A kernel that works element by element.
#include "engine/cuda/lower/tail.h"

namespace millrace::engine::cuda {

/// 0, 1, ... for as many dimensions as the shape has.
std::vector<int> all_dimensions_of(const network::Shape& shape);

/// A tensor and where it lies.
struct Placed {
  TensorId tensor;
  Value value;
};
/// to = tail(from), where `from` spreads over `to`; both may be the same place. The tail is of all
/// dimensions of the result.
Start element_start(Builder& builder, const Placed& from, const Placed& to, const Tail& tail);

}  // namespace millrace::engine::cuda
