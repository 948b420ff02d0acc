#pragma once
// The zoo, and the networks that nobody here made.
#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "network/network.h"

namespace millrace::test {

struct KnownNetwork {
  std::string name;
  std::string file;                              // below the shared folder; empty: of the zoo
  std::map<std::string, network::Shape> shapes;  // of inputs that the file leaves open
  // Weights that are all alike in the file are replaced by seeded ones of this size: 1 keeps the
  // activations of plain networks in range, those with shortcuts need less. 0: as in the file.
  float weight_scale = 0;
  std::optional<std::int64_t> size = {};  // of the zoo's detectors
};

/// For messages.
inline void PrintTo(const KnownNetwork& known, std::ostream* out) { *out << known.name; }

std::vector<KnownNetwork> known_networks();
/// Empty, or why the network cannot be had here.
std::string why_absent(const KnownNetwork& known);
network::Network load(const KnownNetwork& known);

}  // namespace millrace::test
