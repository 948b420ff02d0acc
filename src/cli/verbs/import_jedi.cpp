// millrace import-jedi FILE.cfg
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "api/json/files.h"
#include "api/planning/jedi_plan.h"
#include "api/written_over.h"
#include "application/jedi/import_jedi.h"
#include "base/error.h"
#include "base/printable.h"
#include "base/yaml.h"
#include "cli/options/common.h"
#include "cli/verbs/verbs.h"
#include "plan/plan_file.h"

namespace millrace::cli {

namespace {

namespace fs = std::filesystem;
namespace jedi = application::jedi;

struct ImportJediOptions {
  std::string file, board, folder = ".";
  bool with_plan = false, force = false, json = false;
};

void bind(CLI::App& verb, ImportJediOptions& options) {
  verb.add_option("file", options.file, "A configuration of JEDI, in libconfig format")->required();
  verb.add_option("-o,--output", options.folder,
                  "The folder for NAME.yaml; NAME is the configuration's network_name")
      ->capture_default_str();
  verb.add_option("--board", options.board,
                  "A shipped board or a board file to plan for; default: this machine");
  verb.add_flag("--with-plan", options.with_plan,
                "Also write the plan of the stages, with modelled times, as NAME.plan.json");
  verb.add_flag("--force", options.force, "Overwrite existing files");
  bind_json(verb, options.json);
}

struct Result {
  jedi::Imported imported;
  fs::path application, plan;
};

/// All instances, before anything is written.
std::vector<Result> import_all(const jedi::Configuration& configuration,
                               const ImportJediOptions& options) {
  std::vector<Result> results;
  std::set<std::string> names;
  api::FilesRead files;
  files.add("configuration", options.file);
  files.add("board file", options.board);
  for (const jedi::Instance& instance : configuration.instances) {
    Result& result = results.emplace_back();
    result.imported = jedi::import_instance(instance, options.file, options.folder);
    files.add("model", result.imported.model);
    std::string name = result.imported.name;
    for (int number = 2; !names.insert(name).second; ++number)
      name = fmt::format("{}-{}", result.imported.name, number);
    result.application = fs::path(options.folder) / (name + ".yaml");
    result.plan = fs::path(options.folder) / (name + ".plan.json");
    std::error_code ignored;
    for (const fs::path& path : {result.application, result.plan}) {
      if (path == result.plan && !options.with_plan) continue;
      files.refuse(path);
      if (!options.force && fs::exists(path, ignored))
        throw InputError(path.string(),
                         "exists already; give --force to overwrite it, or "
                         "another folder with --output");
    }
  }
  return results;
}

bool has_plan(const Result& result, const api::JediPlan& plan) {
  return !result.imported.stages.empty() && plan.verdict;
}

api::ImportedApplication report_of(const Result& result, const api::JediPlan& plan,
                                   bool with_plan) {
  api::ImportedApplication report{result.application.string(), "", plan.verdict.reason(),
                                  result.imported.notes};
  if (with_plan && has_plan(result, plan)) report.plan = result.plan.string();
  report.notes.insert(report.notes.end(), plan.notes.begin(), plan.notes.end());
  return report;
}

void print(const api::ImportedApplication& report) {
  fmt::print("written: {}\n", printable(report.application));
  if (!report.plan.empty()) fmt::print("written: {}\n", printable(report.plan));
  if (!report.no_plan_because.empty())
    fmt::print("no plan: {}\n", printable(report.no_plan_because));
  for (const std::string& each : report.notes) fmt::print("  {}\n", printable(each));
}

int run(const ImportJediOptions& options) {
  const jedi::Configuration configuration = jedi::read(options.file);
  std::error_code ignored;
  if (!fs::is_directory(options.folder, ignored))
    throw InputError("--output " + options.folder, "is not a folder; name one");
  const std::vector<Result> results = import_all(configuration, options);
  std::vector<api::JediPlan> plans;
  for (std::size_t i = 0; i < results.size(); ++i) {
    api::JediPlan& plan = plans.emplace_back();
    if (!results[i].imported.stages.empty())
      plan = api::make_jedi_plan(configuration.instances[i], results[i].imported, options.board);
  }
  std::vector<api::ImportedApplication> report;
  int exit_code = 0;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (options.with_plan && has_plan(results[i], plans[i]))
      plan::write_plan(results[i].plan, plans[i].file, plans[i].network);
    write_yaml(results[i].application,
               nlohmann::ordered_json::parse(application_of(results[i].imported, plans[i])));
    report.push_back(report_of(results[i], plans[i], options.with_plan));
    if (!plans[i].verdict) exit_code = answer_is_no;
    if (!options.json) print(report.back());
  }
  if (options.json)
    fmt::print("{}", api::import_json(report, configuration.notes));
  else
    for (const std::string& each : configuration.notes) fmt::print("{}\n", printable(each));
  return exit_code;
}

}  // namespace

void add_import_jedi(CLI::App& app, int& exit_code) {
  add_verb<ImportJediOptions>(
      app, exit_code,
      {{"import-jedi", "Convert a configuration of JEDI into applications and plans",
        "millrace import-jedi yolo2.cfg --board jetson-agx-xavier"},
       bind,
       run});
}

}  // namespace millrace::cli
