#include "api/written_over.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <optional>

#include "api/model_files.h"
#include "api/open_model.h"
#include "application/application_file.h"
#include "application/sink.h"
#include "base/error.h"

namespace millrace::api {
namespace {

namespace fs = std::filesystem;

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
  const ModelFiles files = files_of(model);
  for (const fs::path& file : files.models) add("model", file);
  for (const fs::path& file : files.weights) add("file of the weights", file);
  for (const fs::path& file : files.external_data) add("file of the model's external data", file);
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
  add("alphabet", application.postprocess.alphabet_file);
  for (const std::string& plugin : application.plugins) add("plug-in", plugin);
  if (!application.mapping.plan.empty()) add("plan", application.mapping.plan);
  for (const application::Input& input : application.inputs())
    if (input.kind != application::InputKind::camera) add_input(input.path);
}

void FilesRead::add(const ApplicationOptions& options) {
  add("plan", options.plan);
  for (const std::string& plugin : options.plugins) add("plug-in", plugin);
  if (!options.labels_from.empty()) add_input(options.labels_from);
}

void FilesRead::add(const ApplicationFrameOptions& options) {
  std::error_code ignored;
  if (!options.file.empty() && fs::exists(options.file, ignored))
    add(application::read_application(options.file));
  for (const std::string& plugin : options.plugins) add("plug-in", plugin);
  if (!options.labels_from.empty()) add_input(options.labels_from);
}

void FilesRead::add(const system::System& system) {
  add("system", system.file);
  add("board file", system.board);
  for (const system::Group& group : system.groups) {
    if (!group.model.file.empty()) add(group.model);
    std::error_code ignored;
    if (!group.application.empty() && fs::exists(group.application, ignored))
      add(application::read_application(group.application));
    for (const system::GraphTask& task : group.graph.tasks) {
      add("plug-in", task.code.plugin);
      add("task's source", task.code.source);
    }
  }
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

void FilesRead::refuse_pictures(const fs::path& folder, NameOfCopy* name) const {
  std::error_code error;
  for (const fs::path& input : inputs_) {
    const fs::path copy = folder / name(input.filename().string(), 0);
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
  for (const std::string& path : {output.json, output.images, output.video, output.maps})
    refuse(path);
  if (!output.images.empty()) refuse_pictures(output.images, application::picture_file_name);
  if (!output.maps.empty()) refuse_pictures(output.maps, application::map_file_name);
}

}  // namespace millrace::api
