#pragma once
// Models that a program holds in memory.
#include <map>
#include <string>
#include <string_view>

#include "formats/darknet/darknet.h"
#include "formats/network_names.h"

namespace millrace::formats {

/// Borrowed bytes; what is read keeps none of them. No file is opened.
struct ModelBytes {
  std::string_view model;      // an ONNX file's bytes, or the text of a Darknet configuration
  std::string name = "model";  // the place in messages and the network's name
  /// Weights apart: of ONNX by the locations of its external data; of Darknet one, of any name.
  std::map<std::string, std::string_view> weights = {};
};

/// With the shapes and constants of `source`. InputError as read_onnx; also for external data of
/// which no bytes are given, or too few.
Network read_onnx(const ModelBytes& bytes, const ModelSource& source);

namespace darknet {
/// With the shapes and size of `source`; without weights they are seeded. InputError as
/// read_darknet.
Model read_darknet(const ModelBytes& bytes, const ModelSource& source);
}  // namespace darknet

}  // namespace millrace::formats
