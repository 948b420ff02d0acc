#include "formats/read.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "base/error.h"
#include "formats/darknet/darknet.h"

namespace millrace::formats {
namespace {

/// How files with this ending are read.
struct Importer {
  std::string_view ending;
  Format format;
  Network (*read)(const ModelSource& source);
};

Network read_darknet_file(const ModelSource& source) {
  return darknet::read_darknet(source).network;
}

constexpr std::array importers{Importer{".onnx", Format::onnx, read_onnx_file},
                               Importer{".cfg", Format::darknet, read_darknet_file}};

std::string ending_of(const std::filesystem::path& path) {
  std::string ending = path.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return ending;
}

const Importer* importer_of(const std::filesystem::path& path) {
  const std::string ending = ending_of(path);
  const auto found = std::ranges::find(importers, ending, &Importer::ending);
  return found == importers.end() ? nullptr : &*found;
}

}  // namespace

std::optional<Format> format_of(const std::filesystem::path& path) {
  const Importer* importer = importer_of(path);
  if (importer == nullptr) return std::nullopt;
  return importer->format;
}

Network read_network(const ModelSource& source) {
  const std::filesystem::path path = source.file;
  const Importer* importer = importer_of(path);
  if (importer == nullptr)
    throw InputError(path.string(), fmt::format("ends in '{}', which no importer reads; expected a "
                                                "file ending in .onnx or .cfg",
                                                ending_of(path)));
  Network network = importer->read(source);
  network.name = path.stem().string();
  return network;
}

}  // namespace millrace::formats
