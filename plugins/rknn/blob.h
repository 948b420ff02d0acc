#pragma once
// What is compiled: the toolkit's file, after a text that says what goes in and out.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/engine.h"

namespace millrace_rknn {

using Sizes = std::vector<std::int64_t>;

struct Blob {
  std::string platform;
  std::vector<Sizes> inputs, outputs;  // as the network has them, of float32
  std::string_view model;              // the toolkit's file
};

/// A blob with the subnet's inputs and outputs; the model is left empty.
Blob blob_of(const std::string& platform, const MillraceSubnet& subnet);

std::string to_bytes(const Blob& blob);

/// Borrows the bytes. SdkFailure if they are none of to_bytes().
Blob blob_in(std::string_view bytes);

std::int64_t elements_of(const Sizes& shape);

}  // namespace millrace_rknn
