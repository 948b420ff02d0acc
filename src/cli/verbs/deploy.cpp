// millrace deploy SYSTEM
#include "api/deployment/deploy.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include "api/deployment/open.h"
#include "api/json/deploy.h"
#include "api/text/deploy.h"
#include "api/written_over.h"
#include "base/error.h"
#include "base/file.h"
#include "cli/options/common.h"
#include "cli/options/model.h"
#include "cli/options/range_check.h"
#include "cli/print/progress.h"
#include "cli/verbs/verbs.h"
#include "system/system_file.h"

namespace millrace::cli {
namespace {

struct DeployOptions {
  api::DeployRequest request;
  std::string output, pareto, fronts, equations;
  bool json = false, as_in_thesis = false;
};

const std::map<std::string, explore::ClockSearch> clock_searches{
    {"search", explore::ClockSearch::search},
    {"greedy", explore::ClockSearch::greedy},
    {"exhaustive", explore::ClockSearch::exhaustive}};

void bind_plans(CLI::App& verb, DeployOptions& options) {
  api::DeployRequest& request = options.request;
  begin_group(verb, "Plans of each group");
  verb.add_option("--front", request.front, "How to search the plans that no other plan beats")
      ->check(CLI::IsMember({"nsga2", "lexicase", "exhaustive"}))
      ->capture_default_str();
  verb.add_option("--front-generations", request.fronts.generations,
                  "Largest number of generations")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  verb.add_option("--deviation", request.deviation,
                  "Standard deviation of a kernel's time where times are modelled, as a share of "
                  "its mean. Worst times are six of them above the mean")
      ->check(between(0.0, 10.0))
      ->default_str("0.0333333");
}

void bind_combination(CLI::App& verb, DeployOptions& options) {
  api::DeployRequest& request = options.request;
  begin_group(verb, "All groups");
  std::vector<std::string> names;
  for (const explore::DeployMethod& method : explore::deploy_methods())
    names.emplace_back(method.name);
  for (const explore::MappingMethod& method : explore::mapping_methods())
    names.emplace_back(method.name);
  verb.add_option(
          "--method", request.method,
          "How to decide; docs/deadlines.md and docs/taskgraphs.md compare them. Default: PR; "
          "entire where groups have task graphs")
      ->check(CLI::IsMember(names));
  verb.add_flag("--compare", request.compare, "Show what the other methods find, too");
  verb.add_flag("--max-rate", request.max_rate,
                "Find the highest rate of the fastest group, the others in proportion, at which "
                "all deadlines hold");
  verb.add_option("--population", request.combine.population, "Combinations in a generation")
      ->check(CLI::Range(4, 100'000))
      ->capture_default_str();
  verb.add_option("--generations", request.combine.generations, "Largest number of generations")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  verb.add_option("--patience", request.combine.patience,
                  "Stop after so many generations without improvement; 0: never")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str();
  verb.add_option_function<std::string>(
          "--clocks",
          [&request](const std::string& name) { request.clocks = clock_searches.at(name); },
          "How to search clocks: greedy as in the thesis, search goes on until nothing is cheaper")
      ->check(CLI::IsMember({"search", "greedy", "exhaustive"}))
      ->default_str("search");
  verb.add_flag("--exact", request.exact,
                "Also search exhaustively and by branch and bound, which decides, and print "
                "what the usual searches missed");
  verb.add_flag("--as-in-thesis", options.as_in_thesis,
                "Populations and generations of J. Kim's thesis, without an early end");
  verb.add_option("--equations", options.equations,
                  "Use a paper's equations instead. They can be too low: see docs/realtime.md")
      ->check(CLI::IsMember({"4.1", "4.2", "4.1+4.2"}));
  verb.add_option("--seed", request.seed, "For all that is random")->capture_default_str();
}

void bind(CLI::App& verb, DeployOptions& options) {
  api::DeployRequest& request = options.request;
  verb.add_option("system", request.system, "A system file, in YAML")->required();
  verb.add_option("--board", request.board,
                  "Decide for a shipped board or a board file instead of the system's. Times are "
                  "modelled, not measured");
  verb.add_option("--processors", request.processors,
                  "Processors that networks may use; default: the accelerators if one of them runs "
                  "all operators, else all")
      ->delimiter(',');
  bind_engine_libraries(verb, request.context);
  attach_terminal(request.context);
  bind_plans(verb, options);
  bind_combination(verb, options);
  begin_group(verb, "Measuring");
  verb.add_option("--samples", request.samples,
                  "Runs of each task on this machine, beside the others, whose worst times the "
                  "deployment gets; 0: the sums of its layers' worst times")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1'000'000}))
      ->default_str("200");
  verb.add_option("--profile", request.profile,
                  "A file of `profile SYSTEM`: its times of networks, and those of tasks that the "
                  "system leaves to be measured. Default: measured now")
      ->excludes(verb.get_option("--board"));
  verb.add_option("--plugin", request.plugins,
                  "A shared library with functions of tasks (repeatable)");
  begin_group(verb, "Output");
  verb.add_option("-o,--output", options.output,
                  "The deployment file to write; default: NAME.deployment.json");
  verb.add_option("--pareto", options.pareto, "Draw the plans of each group into this SVG file");
  verb.add_option("--fronts", options.fronts, "Write the plans of each group into this JSON file");
  bind_json(verb, options.json);
}

/// The parameters of section 4.5.1.
void use_parameters_of_thesis(api::DeployRequest& request) {
  request.fronts.population = 65;
  request.fronts.generations = 20'000;
  request.combine.population = 128;
  request.combine.generations = 10'000;
  request.fronts.patience = request.combine.patience = 0;
}

void use_equations(const std::string& names, realtime::AnalysisOptions& analysis) {
  if (names.find("4.1") != std::string::npos) analysis.priorities = realtime::Equation::eq_4_1;
  if (names.find("4.2") != std::string::npos) analysis.queues = realtime::Equation::eq_4_2;
}

void check_outputs(const DeployOptions& options) {
  refuse_two_results(options.json, options.output);
  const system::System system = system::read_system(options.request.system);
  const bool has_network = std::ranges::any_of(system.groups, &system::Group::has_network);
  for (const auto& [option, path] :
       {std::pair("--pareto", options.pareto), {"--fronts", options.fronts}})
    if (!path.empty() && !has_network)
      throw InputError(option, "no group has a network, so there are no plans; leave it out");
  api::FilesRead files;
  files.add(system);
  files.add("board file", options.request.board);
  files.add("profile", options.request.profile);
  files.add_plugins(options.request.plugins);
  files.add(options.request.context);
  files.refuse_unwritable({options.output, options.pareto, options.fronts});
}

void write_results(const DeployOptions& options, const api::DeployResult& result) {
  if (!options.pareto.empty()) write_file(options.pareto, api::fronts_picture(result));
  if (!options.fronts.empty()) write_file(options.fronts, api::fronts_json(result));
  if (!result.deployment) return;
  api::Networks networks(api::Context{});
  deployment::write_deployment(options.output, *result.deployment, networks.by_source());
}

int run(const DeployOptions& given) {
  DeployOptions options = given;
  if (options.output.empty())
    options.output =
        std::filesystem::path(options.request.system).stem().string() + ".deployment.json";
  if (options.as_in_thesis) use_parameters_of_thesis(options.request);
  use_equations(options.equations, options.request.analysis);
  check_outputs(options);
  const api::DeployResult result = api::deploy_system(options.request);
  write_results(options, result);
  const bool is_quiet = options.output == standard_output;
  if (options.json)
    fmt::print("{}", api::deploy_json(result, options.output));
  else if (!is_quiet)
    fmt::print("{}", api::deploy_text(result, options.output));
  if (result.refusal.empty()) return 0;
  note(options.request.system + ": " + result.refusal);
  return answer_is_no;
}

}  // namespace

void add_deploy(CLI::App& app, int& exit_code) {
  add_verb<DeployOptions>(
      app, exit_code,
      {{"deploy",
        "Decide for several networks under deadlines: plans, processors, and clocks that use the "
        "least energy",
        "millrace deploy robot.yaml -o robot.deployment.json"},
       bind,
       run});
}

}  // namespace millrace::cli
