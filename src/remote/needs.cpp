#include "remote/needs.h"

#include <system_error>

#include "application/application_file.h"
#include "base/error.h"
#include "deployment/deployment_file.h"
#include "formats/model_source.h"
#include "product/deployment/profile_system.h"
#include "product/loaded.h"
#include "system/system_file.h"

namespace millrace::remote {
namespace {

namespace fs = std::filesystem;

void add_writes(const application::Output& output, Command& command) {
  for (const std::string& file : {output.json, output.video})
    if (!file.empty() && file != "-") command.writes.push_back({file});
  for (const std::string& folder : {output.images, output.maps})
    if (!folder.empty()) command.writes.push_back({folder, Written::Kind::tree});
}

void add_application(const std::string& file, product::FilesRead& files, Command& command) {
  const application::Application application = application::read_application(file);
  files.add(application);
  if (!application.mapping.plan.empty()) files.add_plan(application.mapping.plan);
  if (application.crops && !application.crops->plan.empty())
    files.add_plan(application.crops->plan);
  add_writes(application.output, command);
}

void add_system(const std::string& file, product::FilesRead& files, Command& command) {
  const system::System system = system::read_system(file);
  files.add(system);
  for (const system::Group& group : system.groups)
    if (!group.application.empty()) add_application(group.application, files, command);
}

/// Beside a bundle's plan.
void add_blobs(const fs::path& plan, product::FilesRead& files) {
  std::error_code error;
  const fs::path blobs = plan.parent_path() / product::folder_of_blobs;
  if (fs::is_directory(blobs, error)) files.add_input(blobs);
}

void add_what_it_names(const NeededFile& needed, product::FilesRead& files, Command& command) {
  const fs::path file = needed.file;
  const std::string ending = file.extension().string();
  if (deployment::is_deployment_file(file)) return files.add_deployment(needed.file, needed.script);
  if (ending == ".json") {
    add_blobs(file, files);
    return files.add_plan(needed.file, needed.model);
  }
  if (product::is_system_file(needed.file)) return add_system(needed.file, files, command);
  if (application::is_application_file(file)) return add_application(needed.file, files, command);
  if (ending != ".onnx" && ending != ".cfg") return;
  formats::ModelSource model;
  model.file = needed.file;
  model.weights = needed.weights;
  files.add(model);
}

}  // namespace

void add_needs(const NeededFile& needed, Command& command) {
  std::error_code error;
  if (!fs::exists(needed.file, error)) return;
  product::FilesRead files;
  files.add_input(needed.file);
  try {
    add_what_it_names(needed, files, command);
  } catch (const InputError&) {
    error.clear();  // the board says what is wrong
  }
  for (const fs::path& path : files.paths())
    if (fs::is_regular_file(path, error) || fs::is_directory(path, error))
      command.reads.push_back(path);
}

}  // namespace millrace::remote
