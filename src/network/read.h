#pragma once
// Model files into networks.
#include <filesystem>
#include <map>
#include <string>

#include "network/network.h"

namespace millrace::network {

struct ReadOptions {
  /// Shapes for inputs by name; needed where the file leaves a dimension open.
  std::map<std::string, Shape> shapes;
  /// Values for inputs by name that are known already, such as a target shape: they become
  /// constants and take part in folding.
  std::map<std::string, Array> constants;
};

/// By the file's ending (".onnx"). Simplified: see simplify.h. InputError names the file and
/// the place in it (operator, node, tensor or attribute), what was found and what to do.
Network read_network(const std::filesystem::path& path, const ReadOptions& options = {});

/// An ONNX model from memory; external data is looked for in `folder`, nowhere else.
/// `name` is the place in messages and the network's name.
Network read_onnx(std::string_view bytes, const std::string& name,
                  const std::filesystem::path& folder, const ReadOptions& options = {});

}  // namespace millrace::network
