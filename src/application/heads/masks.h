#pragma once
// The pixels of an object, from planes that its coefficients add up.
#include <span>

#include "application/heads/view.h"
#include "network/tensor.h"

namespace millrace::application {

/// Pixels inside of the detection's box: where the sum of the prototypes' planes (1 x coefficients
/// x rows x columns, over the whole input), interpolated between their centres, is above 0.
Mask mask_of(const Detection& detection, std::span<const float> coefficients,
             const network::Array& prototypes, const View& view);

}  // namespace millrace::application
