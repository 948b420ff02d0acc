#include "api/written_over.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <optional>

#include "api/open_model.h"
#include "application/sink.h"
#include "base/error.h"
#include "base/file.h"

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
  return is_file && model.extension() == ".onnx" && fs::file_size(model, error) <= most;
}

/// As `000001.png` is, which pictures without a name of their own are called.
bool is_number_of_frame(const fs::path& name) {
  const std::string stem = name.stem().string();
  return name.extension() == ".png" && stem.size() >= 6 &&
         std::all_of(stem.begin(), stem.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

bool FilesRead::identify(const fs::path& path, Identity& identity) {
  struct stat found {};
  if (::stat(path.c_str(), &found) == 0) {
    identity = {found.st_dev, found.st_ino, {}};
    return S_ISREG(found.st_mode) || S_ISDIR(found.st_mode);
  }
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  if (::stat(folder.c_str(), &found) != 0) return false;
  identity = {found.st_dev, found.st_ino, path.filename().string()};
  return true;
}

void FilesRead::add(const std::string& what, const fs::path& path) {
  Identity identity;
  std::error_code ignored;
  if (!path.empty() && fs::exists(path, ignored) && identify(path, identity))
    read_.emplace_back(identity, what);
}

void FilesRead::add(const network::ModelSource& model) {
  const fs::path file = model.file;
  add("model", file);
  add("file of the weights", model.weights);
  if (model.weights.empty() && file.extension() == ".cfg")
    add("file of the weights", fs::path(file).replace_extension(".weights"));
  if (!may_have_external_data(file)) return;
  for (const std::string& name : external_data_of(read_file(file)))
    add("file of the model's external data", file.parent_path() / name);
}

void FilesRead::add(const RunnableOptions& runnable) {
  const std::string& file = runnable.model.source.file;
  add(runnable.model.source);
  std::error_code ignored;
  if (is_plan_file(file) && fs::exists(file, ignored)) add(model_of_plan(file, runnable.network));
}

void FilesRead::add_input(const fs::path& path) {
  add("input", path);
  std::error_code error;
  if (!fs::is_directory(path, error)) return inputs_.push_back(path);
  for (auto entry = fs::directory_iterator(path, error); !error && entry != fs::end(entry);
       entry.increment(error)) {
    add("input", entry->path());
    inputs_.push_back(entry->path());
  }
}

void FilesRead::add(const FrameOptions& frames) {
  for (const std::string& input : frames.inputs) {
    add_input(input);
    const std::size_t equals = input.find('=');  // NAME=FILE.npy
    if (equals != std::string::npos) add_input(input.substr(equals + 1));
  }
}

void FilesRead::add(const application::Application& application) {
  add("application", application.file);
  add(application.model);
  add("file of labels", application.labels_file);
  for (const std::string& plugin : application.plugins) add("plug-in", plugin);
  if (application.input.kind != application::InputKind::camera) add_input(application.input.path);
}

void FilesRead::check(const fs::path& path, const Identity& identity) const {
  for (const auto& [read, what] : read_)
    if (read == identity)
      throw InputError(path.string(),
                       fmt::format("is the {} too; name another place for the results", what));
}

void FilesRead::refuse(const fs::path& path) {
  Identity identity;
  if (path.empty() || !identify(path, identity)) return;
  check(path, identity);
  if (std::find(written_.begin(), written_.end(), identity) != written_.end())
    throw InputError(path.string(),
                     "would be written twice; name another place for one of the results");
  written_.push_back(identity);
}

void FilesRead::refuse_pictures(const fs::path& folder) const {
  std::error_code error;
  for (const fs::path& input : inputs_) {
    const fs::path copy = folder / application::picture_file_name(input.filename().string(), 0);
    Identity identity;
    if (fs::exists(copy, error) && identify(copy, identity)) check(copy, identity);
  }
  for (auto entry = fs::directory_iterator(folder, error); !error && entry != fs::end(entry);
       entry.increment(error)) {
    Identity identity;
    if (is_number_of_frame(entry->path().filename()) && identify(entry->path(), identity))
      check(entry->path(), identity);
  }
}

void FilesRead::refuse(const application::Output& output) {
  for (const std::string& path : {output.json, output.images, output.video}) refuse(path);
  if (!output.images.empty()) refuse_pictures(output.images);
}

}  // namespace millrace::api
