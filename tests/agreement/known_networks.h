#pragma once
// The zoo, and the float32 networks that nobody here made.
#include <string>
#include <vector>

#include "network/network.h"

namespace millrace::test {

struct KnownNetwork {
  std::string name;
  std::string file;   // below the shared folder; empty: of the zoo
  std::string shape;  // for an open batch: the input's name; its shape is in the file otherwise
  bool constant_weights = false;  // weights are all alike: replaced by seeded ones
};

std::vector<KnownNetwork> known_networks();
/// Empty, or why the network cannot be had here.
std::string why_absent(const KnownNetwork& known);
network::Network load(const KnownNetwork& known);

}  // namespace millrace::test
