#pragma once
// The files that a model consists of.
#include <filesystem>
#include <vector>

#include "network/model_source.h"

namespace millrace::api {

/// The files of the model that are there: itself, the weights of a Darknet configuration, and the
/// external data of an ONNX file. None of a zoo network. Paths are as the model names them.
struct ModelFiles {
  std::vector<std::filesystem::path> models, weights, external_data;  // at most one model
};
ModelFiles files_of(const network::ModelSource& model);

}  // namespace millrace::api
