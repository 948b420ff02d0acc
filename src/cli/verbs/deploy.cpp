// millrace plan SYSTEM
#include "cli/verbs/systems.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "cli/options/request.h"
#include "cli/print/progress.h"
#include "cli/verbs/verbs.h"
#include "present/results/deploy.h"
#include "product/deployment/open.h"
#include "product/written_over.h"
#include "system/system_file.h"

namespace millrace::cli {
namespace {

const std::map<std::string, explore::ClockSearch> clock_searches{
    {"search", explore::ClockSearch::search},
    {"greedy", explore::ClockSearch::greedy},
    {"exhaustive", explore::ClockSearch::exhaustive}};

/// The parameters of section 4.5.1.
void use_parameters_of_thesis(product::DeployRequest& request) {
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
  product::FilesRead files;
  files.add(system);
  files.add("board file", options.request.board);
  files.add("profile", options.request.profile);
  files.add_plugins(options.request.plugins);
  files.add(options.request.context);
  files.refuse_unwritable({options.output, options.pareto, options.fronts});
}

void write_results(const DeployOptions& options, const product::DeployResult& result) {
  if (!options.pareto.empty()) write_file(options.pareto, present::fronts_picture(result));
  if (!options.fronts.empty()) write_file(options.fronts, present::fronts_json(result));
  if (!result.deployment) return;
  product::Networks networks(product::Context{});
  deployment::write_deployment(options.output, *result.deployment, networks.by_source());
}

std::vector<std::string> method_names() {
  std::vector<std::string> names;
  for (const explore::DeployMethod& method : explore::deploy_methods())
    names.emplace_back(method.name);
  for (const explore::MappingMethod& method : explore::mapping_methods())
    names.emplace_back(method.name);
  names.emplace_back("admission");
  return names;
}

}  // namespace

void bind_deploy(Places& at, DeployOptions& options) {
  product::DeployRequest& request = options.request;
  at.put("front", request.front).put("front-generations", request.fronts.generations);
  at.put("deviation", request.deviation).one_of("method", request.method, method_names());
  at.put("compare", request.compare).put("max-rate", request.max_rate);
  at.put("generations", request.combine.generations).put("exact", request.exact);
  at.each("clocks", [&request](const std::string& name) {
    if (clock_searches.contains(name)) request.clocks = clock_searches.at(name);
  });
  at.put("as-in-thesis", options.as_in_thesis).put("equations", options.equations);
  at.put("samples", request.samples).put("pareto", options.pareto).put("fronts", options.fronts);
}

int run_deploy(DeployOptions options) {
  if (options.output.empty())
    options.output =
        std::filesystem::path(options.request.system).stem().string() + ".deployment.json";
  if (options.as_in_thesis) use_parameters_of_thesis(options.request);
  use_equations(options.equations, options.request.analysis);
  if (!is_follower(options.request.context.ranks)) check_outputs(options);
  const product::DeployResult result = product::deploy_system(options.request);
  write_results(options, result);
  const bool is_quiet = options.output == standard_output;
  if (options.json)
    show(present::deploy_json(result, options.output));
  else if (!is_quiet)
    show(present::deploy_text(result, options.output));
  if (result.refusal.empty()) return 0;
  note(options.request.system + ": " + result.refusal);
  return answer_is_no;
}

}  // namespace millrace::cli
