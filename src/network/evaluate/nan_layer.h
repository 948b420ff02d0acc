#pragma once
// Where a network first makes what is no number.
#include <span>
#include <string>
#include <vector>

#include "network/network.h"

namespace millrace::network {

/// The name of the first layer that makes NaN of a frame of finite inputs, by the plain loops; of
/// the first frame with one. Empty: there is none.
std::string nan_layer_of(const Network& network, std::span<const std::vector<Array>> frames);

}  // namespace millrace::network
