#pragma once
// What bench/instructions counts: single layers and whole networks, with random weights.
#include <functional>
#include <string>
#include <vector>

#include "network/network.h"

namespace millrace::counting {

enum class SampleKind { layer, network };
struct Sample {
  std::string name;
  SampleKind kind = SampleKind::layer;
  std::function<network::Network()> make;
};

const std::vector<Sample>& layer_samples();
const std::vector<Sample>& network_samples();
/// One of both lists, simplified. InputError with the known names.
network::Network make_sample(const std::string& name);

}  // namespace millrace::counting
