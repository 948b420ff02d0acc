#pragma once
// Model files into networks.
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "network/network.h"

namespace millrace::network {

struct ReadOptions {
  /// Shapes for inputs by name; needed where the file leaves a dimension open.
  std::map<std::string, Shape> shapes = {};
  /// Values for inputs by name that are known already, such as a target shape: they become
  /// constants and take part in folding.
  std::map<std::string, Array> constants = {};
  /// Of Darknet's networks: width and height of the input, in place of the file's; the file of
  /// weights (empty: the one beside the configuration, if there is one); the seed of weights where
  /// there is none.
  std::optional<std::int64_t> size = std::nullopt;
  std::filesystem::path weights = {};
  std::uint64_t seed = 1;
};

enum class Format { onnx, darknet };
/// By the file's ending, ".onnx" or ".cfg"; nothing if it is neither.
std::optional<Format> format_of(const std::filesystem::path& path);

/// By the file's ending (".onnx"; ".cfg": see darknet/darknet.h, which gives the detector's anchors
/// and thresholds too). Simplified: see simplify.h. InputError names the file and
/// the place in it (operator, node, tensor or attribute), what was found and what to do.
Network read_network(const std::filesystem::path& path, const ReadOptions& options = {});

/// An ONNX file, external data beside it. Its bytes are not kept, and its weights are in memory
/// once.
Network read_onnx_file(const std::filesystem::path& path, const ReadOptions& options = {});

/// An ONNX model from memory; external data is looked for in `folder`, nowhere else.
/// `name` is the place in messages and the network's name.
Network read_onnx(std::string_view bytes, const std::string& name,
                  const std::filesystem::path& folder, const ReadOptions& options = {});

}  // namespace millrace::network
