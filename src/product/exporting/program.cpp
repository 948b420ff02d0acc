#include "product/exporting/program.h"

#include <algorithm>

#include "base/error.h"
#include "base/file.h"
#include "base/files/new_folder.h"
#include "codegen/program.h"
#include "deployment/deployment_file.h"
#include "formats/files/model_files.h"
#include "formats/random_weights.h"
#include "plan/plan_file.h"
#include "plan/variants.h"
#include "product/exporting/deployment_program.h"
#include "product/loaded.h"
#include "product/open_model.h"

namespace millrace::product {
namespace {

namespace fs = std::filesystem;

std::string name_of(const fs::path& folder) {
  return codegen::program_name(folder.filename().string());
}

void add_plan(const ProgramRequest& request, const NewFolder& folder, WrittenProgram& program) {
  const auto loaded = read_plan_and_network(request.file, request.model, request.context);
  const formats::ModelSource source = model_of_plan(request.file, request.model);
  plan::PlanFile file{loaded->plan, loaded->origin, loaded->evidence};
  copy_model(source, folder.path(), file.origin.model);
  tell_from(source, program);
  if (request.timed) file.plan = all_simulated(file.plan);
  const fs::path name = codegen::program_name(fs::path(request.file).filename());
  const codegen::PlanProgram written{program.name, name.string(), file.plan, loaded->network};
  write_texts(codegen::program_of(written), folder.path(), program);
  check_is_free(folder.path(), name);
  plan::write_plan(folder.path() / name, file, loaded->network);
}

void fill_with_program(const ProgramRequest& request, const NewFolder& folder,
                       WrittenProgram& program) {
  if (deployment::is_deployment_file(request.file))
    add_deployment(request, folder.path(), program);
  else
    add_plan(request, folder, program);
  for (const auto& entry : fs::recursive_directory_iterator(folder.path())) {
    const fs::path file = fs::relative(entry.path(), folder.path());
    if (entry.is_regular_file() && std::ranges::find(program.files, file) == program.files.end())
      program.files.push_back(file);
  }
}

}  // namespace

plan::Plan all_simulated(const plan::Plan& plan) {
  return plan::with_engine(
      plan, [](const plan::Stage&) { return true; }, plan::simulated_engine);
}

void copy_model(const formats::ModelSource& source, const fs::path& folder,
                formats::ModelSource& copy) {
  const formats::ModelFiles files = formats::files_of(source);
  for (const auto& group : {files.models, files.weights, files.external_data})
    for (const fs::path& file : group) copy_beside(file, source.file, folder);
  if (!files.models.empty()) copy.file = folder / fs::path(source.file).filename();
  const fs::path weights = formats::named_weights(source);
  if (!weights.empty()) copy.weights = folder / weights.filename();
}

void tell_from(const formats::ModelSource& model, WrittenProgram& program) {
  if (model.file == program.name) program.name += "_program";
}

void write_texts(const std::vector<codegen::ProgramFile>& texts, const fs::path& folder,
                 WrittenProgram& program) {
  for (const codegen::ProgramFile& file : texts) {
    check_is_free(folder, file.path);
    write_file(folder / file.path, file.text);
    program.files.push_back(file.path);
  }
}

WrittenProgram export_program(const ProgramRequest& request) {
  if (!is_plan_file(request.file))
    throw InputError(request.file,
                     "is no plan and no deployment; 'millrace plan' and 'deploy' "
                     "make them");
  check_new_folder(request.folder);
  NewFolder folder(request.folder);
  WrittenProgram program{name_of(folder.place()), {}};
  folder.keep_after([&] { fill_with_program(request, folder, program); });
  return program;
}

}  // namespace millrace::product
