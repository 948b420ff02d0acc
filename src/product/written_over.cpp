#include "product/written_over.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <optional>

#include "application/application_file.h"
#include "application/image_folder.h"
#include "application/sink.h"
#include "application/sources/read_input.h"
#include "base/error.h"
#include "base/file.h"
#include "base/temporary.h"
#include "base/yaml.h"
#include "deployment/deployment_file.h"
#include "deployment/script.h"
#include "formats/files/model_files.h"
#include "product/open_model.h"

namespace millrace::product {
namespace {

namespace fs = std::filesystem;

/// As `000001.png` is, which pictures without a name of their own are called.
bool is_number_of_frame(const fs::path& name) {
  const std::string stem = name.stem().string();
  return name.extension() == ".png" && stem.size() >= 6 &&
         std::all_of(stem.begin(), stem.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// SDF3 files that groups name: the system keeps only what was in them.
std::vector<fs::path> graphs_of(const std::string& system) {
  std::vector<fs::path> files;
  const YamlNode root = read_yaml(system);
  const YamlView view(root, system);
  if (!view.has("groups")) return files;  // of a deployment, which has it all inside
  for (const YamlView& group : view.at("groups").items())
    if (group.has("graph")) files.push_back(group.at("graph").path());
  return files;
}

bool is_there(const std::string& file) {
  std::error_code ignored;
  return !file.empty() && fs::exists(file, ignored);
}

/// The pictures that become frames.
std::vector<fs::path> pictures_of(const application::Input& input) {
  std::error_code error;
  if (input.kind != application::InputKind::images || !fs::is_directory(input.path, error))
    return {};
  std::vector<fs::path> pictures = application::images_in(input.path, error);
  const auto most = static_cast<std::size_t>(input.frames);
  if (most > 0 && most < pictures.size()) pictures.resize(most);
  return pictures;
}

}  // namespace

bool FilesRead::identify(const fs::path& path, Identity& identity) {
  struct stat found {};
  if (::stat(path.c_str(), &found) == 0) {
    identity = {found.st_dev, found.st_ino, {}};
    return S_ISREG(found.st_mode) || S_ISDIR(found.st_mode);
  }
  const fs::path target = end_of_links(path);
  const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
  if (::stat(folder.c_str(), &found) != 0) return false;
  identity = {found.st_dev, found.st_ino, target.filename().string()};
  return true;
}

void FilesRead::add(const std::string& what, const fs::path& path) {
  Identity identity;
  std::error_code ignored;
  if (path.empty() || !fs::exists(path, ignored) || !identify(path, identity)) return;
  read_.emplace_back(identity, what);
  paths_.push_back(path);
}

const std::vector<fs::path>& FilesRead::paths() {
  look_into_models();
  return paths_;
}

void FilesRead::add(const formats::ModelSource& model) {
  add("model", model.file);
  models_.push_back(model);
}

/// What is wrong with a model is said when it is read.
void FilesRead::look_into_models() {
  for (const formats::ModelSource& model : std::exchange(models_, {})) {
    try {
      const formats::ModelFiles files = formats::files_of(model);
      for (const fs::path& file : files.weights) add("file of the weights", file);
      for (const fs::path& file : files.external_data)
        add("file of the model's external data", file);
    } catch (const InputError&) {
      continue;
    }
  }
}

void FilesRead::add(const Context& context) {
  for (const auto& [engine, library] : context.libraries) add("library of an engine", library);
}

void FilesRead::add(const Setup& setup) {
  add(setup.source);
  add(setup.context);
}

void FilesRead::add(const RunnableOptions& runnable) {
  const std::string& file = runnable.model.source.file;
  if (is_plan_file(file)) add_plan(file, runnable.network);
  add(runnable.model);
}

void FilesRead::add_plan(const std::string& file, const std::string& other_model) {
  add("plan", file);
  if (is_there(file)) add(model_named_in(file, other_model));
}

void FilesRead::add_deployment(const std::string& file, const std::string& script) {
  add("deployment", file);
  add("script", script);
  const system::System system = deployment::read_deployment_system(file);
  add(system);
  if (!is_there(script)) return;
  for (const deployment::ScriptStep& step : deployment::read_script(script, system))
    if (is_there(step.add)) add_addition(step.add);
}

/// What is wrong with it is said when it is to be added.
void FilesRead::add_addition(const std::string& file) {
  add("deployment", file);
  try {
    add(deployment::read_deployment_system(file));
  } catch (const InputError&) {
    return;
  }
}

void FilesRead::add_plugins(const std::vector<std::string>& plugins) {
  for (const std::string& plugin : plugins) add("plug-in", plugin);
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

void FilesRead::add(const application::FrameOptions& frames) {
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
  add_plugins(application.plugins);
  add("plan", application.mapping.plan);
  add("board file", application.mapping.board);
  if (application.crops) {
    add(application.crops->model);
    add("file of labels", application.crops->labels_file);
    add("alphabet", application.crops->postprocess.alphabet_file);
    add("plan", application.crops->plan);
  }
  for (const application::Input& input : application.inputs()) {
    if (input.kind != application::InputKind::camera) add_input(input.path);
    pictures_.push_back(pictures_of(input));
  }
}

void FilesRead::add(const ApplicationOptions& options) {
  add("plan", options.plan);
  add_plugins(options.plugins);
  if (!options.labels_from.empty()) add_input(options.labels_from);
}

void FilesRead::add(const ApplicationFrameOptions& options) {
  if (is_there(options.file)) add(application::read_application(options.file));
  add_plugins(options.plugins);
  if (!options.labels_from.empty()) add_input(options.labels_from);
}

void FilesRead::add(const system::System& system) {
  add("system", system.file);
  add("board file", system.board);
  if (is_there(system.file) && !deployment::is_deployment_file(system.file))
    for (const fs::path& graph : graphs_of(system.file)) add("graph", graph);
  for (const system::Group& group : system.groups) {
    if (!group.model.file.empty()) add(group.model);
    if (is_there(group.application)) add(application::read_application(group.application));
    for (const system::GraphTask& task : group.graph.tasks) {
      add("plug-in", task.code.plugin);
      add("task's source", task.code.source);
      if (task.network) add(task.network->model);
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
  look_into_models();
  check(path, identity);
  if (std::find(written_.begin(), written_.end(), identity) != written_.end())
    throw InputError(path.string(),
                     "would be written twice; name another place for one of the results");
  written_.push_back(identity);
}

void FilesRead::refuse_unwritable(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) refuse(path);
  for (const std::string& path : paths)
    if (!path.empty()) check_writable(path);
}

/// The later one would take the place of the earlier one.
void FilesRead::refuse_equal_names(NameOfCopy* name) const {
  for (const std::vector<fs::path>& pictures : pictures_) {
    std::map<std::string, fs::path> sources;
    for (std::size_t frame = 0; frame < pictures.size(); ++frame) {
      const std::string source = pictures[frame].filename().string();
      const std::string copy = name(source, static_cast<std::int64_t>(frame));
      const auto [other, is_new] = sources.emplace(copy, source);
      if (!is_new)
        throw InputError(pictures[frame].string(),
                         fmt::format("its copy would be called {}, as that of {} is; rename one of "
                                     "the two pictures",
                                     copy, other->second.string()));
    }
  }
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
  const auto refuse_copies = [this](const std::string& folder, NameOfCopy* name) {
    if (folder.empty()) return;
    look_into_models();
    refuse_equal_names(name);
    refuse_pictures(folder, name);
  };
  refuse_copies(output.images, application::picture_file_name);
  refuse_copies(output.maps, application::map_file_name);
}

void check_trace(const TraceOptions& options, const RunnableOptions& runnable) {
  if (options.file.empty()) return;
  FilesRead files;
  files.add(runnable);
  files.refuse_unwritable({options.file});
}

}  // namespace millrace::product
