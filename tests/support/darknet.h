#pragma once
// Darknet's own outputs, stored beside trained networks.
#include <filesystem>
#include <string>
#include <vector>

#include "formats/darknet/darknet.h"

namespace millrace::test {

/// What one layer of the original gave.
struct StoredLayer {
  std::size_t number = 0;
  bool is_head = false;  // else the convolution before one
  network::Array values;
};

/// A trained network with the original's input and outputs.
struct StoredDarknet {
  formats::darknet::Model model;
  network::Array input;
  std::vector<StoredLayer> layers;
};

/// Reads NAME.cfg, .weights, .in.bin, .out.bin and .txt in the folder. The network's outputs become
/// those that are stored, in their order: also what goes into the heads.
StoredDarknet read_stored_darknet(const std::filesystem::path& folder, const std::string& name);

}  // namespace millrace::test
