#include "formats/files/model_files.h"

#include <onnx/onnx_pb.h>

#include "base/error.h"
#include "formats/files/named_file.h"
#include "formats/onnx/external_data.h"
#include "formats/onnx/model.h"
#include "formats/random_weights.h"
#include "formats/read.h"

namespace millrace::formats {
namespace {

namespace fs = std::filesystem;

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return !path.empty() && fs::exists(path, ignored);
}

std::vector<fs::path> external_data_of(const fs::path& file) {
  const fs::path folder = file.parent_path();
  std::vector<fs::path> files;
  for (const fs::path& name : onnx::external_files_of(*onnx::read_model(file), folder))
    if (name != file.filename()) files.push_back(folder / name);
  return files;
}

}  // namespace

fs::path darknet_weights(const ModelSource& model) {
  if (!model.weights.empty()) return named_weights(model);
  const fs::path beside = fs::path(model.file).replace_extension(".weights");
  const NamedFile found = named_file(beside.parent_path(), beside.filename());
  if (found.finding == NamedFile::Finding::link_leaves)
    throw InputError(beside.string(),
                     "is a link to a file outside the model's folder; copy the file itself into "
                     "the folder, or name it with ⟨weights⟩");
  return is_there(beside) ? beside : fs::path();
}

ModelFiles files_of(const ModelSource& model) {
  ModelFiles files;
  std::error_code ignored;
  if (!is_there(model.file) || fs::is_directory(model.file, ignored)) return files;
  files.models.push_back(model.file);
  const std::optional<Format> format = format_of(model.file);
  if (format == Format::onnx) files.external_data = external_data_of(model.file);
  if (format != Format::darknet) return files;
  const fs::path weights = darknet_weights(model);
  if (is_there(weights)) files.weights.push_back(weights);
  return files;
}

}  // namespace millrace::formats
