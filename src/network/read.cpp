#include "network/read.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "base/error.h"
#include "base/file.h"

namespace millrace::network {
namespace {

/// How files with this ending are read.
struct Importer {
  std::string_view ending;
  decltype(&read_onnx) read;
};

constexpr std::array importers{Importer{".onnx", read_onnx}};

std::string ending_of(const std::filesystem::path& path) {
  std::string ending = path.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return ending;
}

}  // namespace

Network read_network(const std::filesystem::path& path, const ReadOptions& options) {
  const std::string ending = ending_of(path);
  for (const Importer& importer : importers) {
    if (importer.ending != ending) continue;
    Network network =
        importer.read(read_file(path), path.string(), path.parent_path(), options);
    network.name = path.stem().string();
    return network;
  }
  throw InputError(path.string(), fmt::format("ends in '{}', which no importer reads; expected a "
                                              "file ending in .onnx",
                                              ending));
}

}  // namespace millrace::network
