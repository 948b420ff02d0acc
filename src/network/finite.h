#pragma once
// Whether numbers are numbers.
#include <span>
#include <string>
#include <vector>

#include "network/network.h"
#include "network/tensor.h"

namespace millrace::network {

/// False if a value of them is infinite or NaN.
bool is_finite(std::span<const Array> arrays);

/// The name of the first layer that makes NaN of a frame of finite inputs, by the plain loops; of
/// the first frame with one. Empty: there is none.
std::string nan_layer_of(const Network& network, std::span<const std::vector<Array>> frames);

}  // namespace millrace::network
