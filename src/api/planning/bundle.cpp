#include "api/planning/bundle.h"

#include <fmt/format.h>
#include <unistd.h>

#include "api/loaded.h"
#include "api/model_files.h"
#include "api/open_model.h"
#include "base/error.h"
#include "plan/plan_file.h"

namespace millrace::api {
namespace {

namespace fs = std::filesystem;

void check_folder(const fs::path& folder) {
  std::error_code ignored;
  if (!fs::exists(folder, ignored)) return;
  if (!fs::is_directory(folder, ignored))
    throw InputError(folder.string(), "is a file; name a folder that is not there yet");
  if (!fs::is_empty(folder, ignored))
    throw InputError(folder.string(), "has files already; name a new folder, or empty this one");
}

/// Filled beside its place; gone if it does not get there.
class NewFolder {
 public:
  explicit NewFolder(const fs::path& place)
      : place_(place), made_(place.string() + fmt::format(".{}.partial", ::getpid())) {
    fs::create_directories(made_);
  }
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;
  ~NewFolder() {
    std::error_code ignored;
    fs::remove_all(made_, ignored);
  }

  const fs::path& path() const { return made_; }
  void keep() { fs::rename(made_, place_); }

 private:
  fs::path place_, made_;
};

/// Where the model's file lies in the bundle: external data keep their places beside it.
void copy_beside(const fs::path& file, const fs::path& model, const fs::path& folder,
                 Bundle& bundle) {
  const fs::path name = file.lexically_relative(model.parent_path());
  const bool is_below = !name.empty() && *name.begin() != "..";
  const fs::path place = is_below ? name : file.filename();
  fs::create_directories((folder / place).parent_path());
  fs::copy_file(file, folder / place);
  bundle.files.push_back(place);
}

}  // namespace

Bundle make_bundle(const BundleRequest& request) {
  check_folder(request.folder);
  const auto loaded = read_plan_and_network(request.plan, request.model, request.context);
  const network::ModelSource source = model_of_plan(request.plan, request.model);
  const ModelFiles files = files_of(source);
  const fs::path folder = fs::absolute(request.folder).lexically_normal();
  const fs::path plan_name = fs::path(request.plan).filename();
  const fs::path place = folder.has_filename() ? folder : folder.parent_path();
  NewFolder made(place);
  Bundle bundle{{plan_name}};
  for (const auto& group : {files.models, files.weights, files.external_data})
    for (const fs::path& file : group) copy_beside(file, source.file, made.path(), bundle);
  if (!request.labels.empty())
    copy_beside(request.labels, fs::path(request.labels), made.path(), bundle);
  plan::PlanFile file{loaded->plan, loaded->origin, loaded->evidence};
  const auto in_bundle = [&](const fs::path& path) { return place / path.filename(); };
  if (!files.models.empty()) file.origin.model.file = in_bundle(source.file);
  if (!source.weights.empty()) file.origin.model.weights = in_bundle(source.weights);
  plan::write_plan(made.path() / plan_name, file, loaded->network, place);
  made.keep();
  return bundle;
}

}  // namespace millrace::api
