#include "product/planning/bundle.h"

#include <memory>

#include "base/error.h"
#include "base/file.h"
#include "base/files/new_folder.h"
#include "formats/files/model_files.h"
#include "formats/random_weights.h"
#include "plan/plan_file.h"
#include "product/loaded.h"
#include "product/open_model.h"
#include "product/planning/blobs.h"

namespace millrace::product {

namespace fs = std::filesystem;

namespace {

struct PlanToBundle {
  std::unique_ptr<Loaded> loaded;
  formats::ModelSource source;
  formats::ModelFiles files;
};

Bundle fill_with_plan(const BundleRequest& request, const PlanToBundle& plan,
                      const NewFolder& made) {
  const fs::path plan_name = fs::path(request.plan).filename();
  Bundle bundle{{plan_name}};
  for (const auto& group : {plan.files.models, plan.files.weights, plan.files.external_data})
    for (const fs::path& file : group)
      bundle.files.push_back(copy_beside(file, plan.source.file, made.path()));
  if (!request.labels.empty())
    bundle.files.push_back(copy_beside(request.labels, request.labels, made.path()));
  if (!request.labels.empty() && fs::path(request.labels).filename() == plan_name)
    throw InputError(request.labels, "has the plan's name; give it another one");
  check_is_free(made.path(), plan_name);
  plan::PlanFile file{plan.loaded->plan, plan.loaded->origin, plan.loaded->evidence};
  const auto in_bundle = [&](const fs::path& path) { return made.place() / path.filename(); };
  bundle.has_model = !plan.files.models.empty();
  if (bundle.has_model) file.origin.model.file = in_bundle(plan.source.file);
  if (!formats::named_weights(plan.source).empty())
    file.origin.model.weights = in_bundle(plan.source.weights);
  plan::write_plan(made.path() / plan_name, file, plan.loaded->network, made.place());
  for (const auto& [name, content] : blobs_of(*plan.loaded, request.plan)) {
    fs::create_directories(made.path() / folder_of_blobs);
    write_file(made.path() / folder_of_blobs / name, content);
    bundle.files.push_back(fs::path(folder_of_blobs) / name);
  }
  return bundle;
}

}  // namespace

Bundle make_bundle(const BundleRequest& request) {
  check_new_folder(request.folder);
  PlanToBundle plan{read_plan_and_network(request.plan, request.model, request.context),
                    model_of_plan(request.plan, request.model),
                    {}};
  plan.files = formats::files_of(plan.source);
  NewFolder made(request.folder);
  Bundle bundle;
  made.keep_after([&] { bundle = fill_with_plan(request, plan, made); });
  return bundle;
}

}  // namespace millrace::product
