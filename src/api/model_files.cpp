#include "api/model_files.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "base/file.h"
#include "network/read.h"

namespace millrace::api {
namespace {

namespace fs = std::filesystem;

/// The names of files that an ONNX file keeps its weights in: StringStringEntryProto, whose key
/// (field 1) is "location" and whose value (field 2) has a length of one or two bytes.
std::vector<std::string> external_data_of(const std::string& bytes) {
  constexpr std::string_view key = "\x0a\x08location\x12";
  std::vector<std::string> names;
  for (std::size_t at = bytes.find(key); at != std::string::npos; at = bytes.find(key, at)) {
    at += key.size();
    if (at + 2 > bytes.size()) break;
    std::size_t size = static_cast<unsigned char>(bytes[at++]);
    if (size >= 0x80) size = size - 0x80 + 0x80u * static_cast<unsigned char>(bytes[at++]);
    std::string name = bytes.substr(at, size);
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

/// Files whose external data are worth a look: weights inside make a file larger.
bool may_have_external_data(const fs::path& model) {
  constexpr std::uintmax_t most = 256 << 20;
  std::error_code error;
  const bool is_file = fs::is_regular_file(model, error);
  return is_file && network::format_of(model) == network::Format::onnx &&
         fs::file_size(model, error) <= most;
}

void add_if_there(std::vector<fs::path>& files, const fs::path& path) {
  std::error_code ignored;
  if (!path.empty() && fs::exists(path, ignored)) files.push_back(path);
}

}  // namespace

ModelFiles files_of(const network::ModelSource& model) {
  ModelFiles files;
  const fs::path file = model.file;
  add_if_there(files.models, file);
  add_if_there(files.weights, model.weights);
  if (model.weights.empty() && network::format_of(file) == network::Format::darknet)
    add_if_there(files.weights, fs::path(file).replace_extension(".weights"));
  if (!may_have_external_data(file)) return files;
  for (const std::string& name : external_data_of(read_file(file)))
    add_if_there(files.external_data, file.parent_path() / name);
  return files;
}

}  // namespace millrace::api
