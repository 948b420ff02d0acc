#pragma once
// The layers of a request as a network of their own.
#include <span>
#include <vector>

#include "network/network.h"

namespace millrace::engine::openvino {

/// Layer i of `network` is the i-th that was asked for; its name is "L<i>", and the names of what
/// it makes begin with "L<i>/". Large constants are no constants there but inputs after the others:
/// OpenVINO then takes them where they lie.
struct Part {
  network::Network network;             // its inputs and outputs are those of the part
  std::vector<network::Array> weights;  // the values of the last inputs
};

struct Cutting {
  std::span<const LayerId> layers;
  std::span<const TensorId> inputs, outputs;
};
Part cut_out(const network::Network& network, const Cutting& cutting);

}  // namespace millrace::engine::openvino
