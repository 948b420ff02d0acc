#pragma once
// Model files into networks.
#include <filesystem>
#include <optional>
#include <string>

#include "formats/model_source.h"
#include "formats/network_names.h"

namespace millrace::formats {

enum class Format { onnx, darknet };
/// By the file's ending, ".onnx" or ".cfg"; nothing if it is neither.
std::optional<Format> format_of(const std::filesystem::path& path);

/// By the file's ending (".onnx"; ".cfg": see darknet/darknet.h, which gives the detector's anchors
/// and thresholds too). Simplified: see simplify.h. InputError names the file and
/// the place in it (operator, node, tensor or attribute), what was found and what to do.
Network read_network(const ModelSource& source);
inline Network read_network(const std::filesystem::path& path) {
  return read_network(ModelSource{path.string()});
}

/// An ONNX file, external data beside it. Its bytes are not kept, and its weights are in memory
/// once.
Network read_onnx_file(const ModelSource& source);

/// An ONNX model from memory, with the shapes and constants of `source`; external data is looked
/// for in `folder`, nowhere else. `name` is the place in messages and the network's name.
Network read_onnx(std::string_view bytes, const std::string& name,
                  const std::filesystem::path& folder, const ModelSource& source = {});

}  // namespace millrace::formats
