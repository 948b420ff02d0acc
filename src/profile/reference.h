#pragma once
// Inside the profile room: single outputs of a layer, summed in float64.
#include <span>
#include <vector>

#include "network/evaluate/evaluate.h"

namespace millrace::profile {

/// The outputs at these flat indices. `inputs` as for network::evaluate. Empty if the layer is no
/// float32 convolution or product of matrices.
std::vector<double> reference_at(const network::Layer& layer,
                                 std::span<const network::ConstView> inputs,
                                 const network::Shape& output, std::span<const std::size_t> places);

}  // namespace millrace::profile
