#pragma once
// Layers that only an engine computes.
#include <string>

#include "network/network.h"

namespace millrace::network {

/// One sentence about them for people: "onnxruntime computes Scan (2 layers); the
/// reference of verify asks it too".
/// Empty: there are none.
std::string owners_text(const Network& network);

}  // namespace millrace::network
