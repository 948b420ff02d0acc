#pragma once
// Weights that lie in files beside the model.
#include <filesystem>
#include <string>

#include "network/tensor.h"

namespace millrace::network::onnx {

/// A piece of a file, as the model names it.
struct ExternalPiece {
  std::string location;
  std::int64_t offset = 0;
  std::int64_t length = 0;  // of the tensor
};

/// Reads the piece. The file must lie inside `folder`: absolute locations, ".." and links that
/// lead out of it are an InputError at `place`, and so is a file that is too short.
Buffer read_external(const ExternalPiece& piece, const std::filesystem::path& folder,
                     const std::string& place);

}  // namespace millrace::network::onnx
