#include "api/planning/bundle.h"

#include "api/exporting/new_folder.h"
#include "api/loaded.h"
#include "api/model_files.h"
#include "api/open_model.h"
#include "base/error.h"
#include "plan/plan_file.h"

namespace millrace::api {

namespace fs = std::filesystem;

Bundle make_bundle(const BundleRequest& request) {
  check_new_folder(request.folder);
  const auto loaded = read_plan_and_network(request.plan, request.model, request.context);
  const network::ModelSource source = model_of_plan(request.plan, request.model);
  const ModelFiles files = files_of(source);
  const fs::path plan_name = fs::path(request.plan).filename();
  NewFolder made(request.folder);
  Bundle bundle{{plan_name}};
  for (const auto& group : {files.models, files.weights, files.external_data})
    for (const fs::path& file : group)
      bundle.files.push_back(copy_beside(file, source.file, made.path()));
  if (!request.labels.empty())
    bundle.files.push_back(copy_beside(request.labels, request.labels, made.path()));
  if (!request.labels.empty() && fs::path(request.labels).filename() == plan_name)
    throw InputError(request.labels, "has the plan's name; give it another one");
  plan::PlanFile file{loaded->plan, loaded->origin, loaded->evidence};
  const auto in_bundle = [&](const fs::path& path) { return made.place() / path.filename(); };
  bundle.has_model = !files.models.empty();
  if (bundle.has_model) file.origin.model.file = in_bundle(source.file);
  if (!source.weights.empty()) file.origin.model.weights = in_bundle(source.weights);
  plan::write_plan(made.path() / plan_name, file, loaded->network, made.place());
  made.keep();
  return bundle;
}

}  // namespace millrace::api
