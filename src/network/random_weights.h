#pragma once
// Whether a network's weights are random: then it may be measured, but its answers mean nothing.
#include "network/network.h"

namespace millrace::network {

/// Of Network::metadata, where weights are random; its value says why.
inline constexpr const char* random_weights_key = "millrace.random_weights";

inline bool has_random_weights(const Network& network) {
  return network.metadata.contains(random_weights_key);
}

}  // namespace millrace::network
