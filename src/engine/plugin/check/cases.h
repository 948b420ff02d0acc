#pragma once
// Small networks that a plug-in is to run rightly, or to refuse with the right reason.
#include <string>
#include <vector>

#include "network/network.h"

namespace millrace::engine::plugin::check {

struct Case {
  std::string name;  // "conv_3x3"
  network::Network network;
};

/// Convolutions, pools, products, activations, arithmetic and small graphs, the smallest first.
std::vector<Case> cases();

/// Seeded values in [-1, 1) for float32 inputs, in [-8, 8) for others.
std::vector<network::Array> inputs_of(const network::Network& network, std::uint64_t seed);

}  // namespace millrace::engine::plugin::check
