#pragma once
// The files that a model consists of.
#include <filesystem>
#include <vector>

#include "formats/model_source.h"

namespace millrace::formats {

/// The files of the model that are there: itself, the weights of a Darknet configuration, and the
/// external data of an ONNX file, which lie in its folder: see named_file. None of a zoo network.
/// InputError if the model cannot be read.
struct ModelFiles {
  std::vector<std::filesystem::path> models, weights, external_data;  // at most one model
};
ModelFiles files_of(const ModelSource& model);

/// The weights of a Darknet configuration: those that the source names, else those beside it; empty
/// if there are none. InputError if those beside it are a link that leads out of the folder.
std::filesystem::path darknet_weights(const ModelSource& model);

}  // namespace millrace::formats
