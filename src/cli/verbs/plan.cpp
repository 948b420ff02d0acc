// millrace plan MODEL|APPLICATION|SYSTEM
#include "product/planning/make_plan.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "base/quantity.h"
#include "cli/options/request.h"
#include "cli/print/progress.h"
#include "cli/verbs/systems.h"
#include "cli/verbs/verbs.h"
#include "deployment/deployment_file.h"
#include "present/results/planning.h"
#include "product/deployment/profile_system.h"
#include "product/planning/crops_plan.h"
#include "product/planning/tuned_application.h"
#include "remote/ranks/ranks.h"

namespace millrace::cli {
namespace {

struct PlanOptions {
  product::PlanRequest request;  // its source may be a system
  DeployOptions deploy;
  AdmitOptions admit;
  std::string output, application;
  bool json = false, verbose = false;
};

/// What those of models and those of systems share.
void bind_searches(Places& at, PlanOptions& options) {
  product::PlanRequest& request = options.request;
  explore::CombineOptions& combine = options.deploy.request.combine;
  at.each("search-time", [&](const std::string& text) {
    request.search.time_limit = text;
    options.admit.request.admission.seconds = seconds(read_duration(text, "--search-time"));
  });
  at.each("population", [&](const std::string& text) {
    request.genetic.population =
        static_cast<int>(combine.population = static_cast<std::size_t>(
                             read_number<std::int64_t>(text, "--population")));
  });
  at.each("patience", [&](const std::string& text) {
    request.genetic.patience = static_cast<int>(
        combine.patience = static_cast<std::size_t>(read_number<std::int64_t>(text, "--patience")));
  });
}

void bind_genetic(Places& at, explore::GeneticOptions& genetic) {
  at.each("fitness", [&genetic](const std::string& text) {
    genetic.aim.fitness = explore::read_fitness(text, "--fitness");
  });
  at.put("epochs", genetic.epochs).put("mutation", genetic.mutation);
  at.put("contiguous", genetic.contiguous);
}

void bind_search(Places& at, explore::SearchOptions& search) {
  at.one_of("search", search.method, explore::search_names()).put("no-fallback", search.fallback);
  at.put("objective", search.objective).put("candidates", search.candidates);
  at.put("jobs", search.jobs).put("log", search.log).put("resume", search.resume);
  at.put("threshold", search.threshold).put("top", search.top).put("start", search.start);
  at.put("pre-time", search.pre_time).put("post-time", search.post_time);
  at.put("allowed-loss", search.allowed_loss).put("option", search.option);
}

void bind_limits(Places& at, product::PlanRequest& request) {
  at.each("max-latency", [&request](const std::string& text) {
    request.max_latency = read_duration(text, "--max-latency");
  });
  at.each("max-memory", [&request](const std::string& text) {
    request.max_memory = read_bytes(text, "--max-memory");
  });
  at.put("max-board-energy", request.max_board_energy);
  at.put("max-batch", request.max_batch).put("limits", request.limits);
  at.put("board", request.board).put("measure", request.measure_s).put("profile", request.profile);
}

void bind(Places& at, PlanOptions& options) {
  product::PlanRequest& request = options.request;
  at.word("model", request.setup.source.file, "A model, an application or a system (.yaml)")
      ->required();
  bind_input(at, request.setup);
  bind_processors(at, request.setup);
  bind_variants(at, request.variants);
  bind_samples(at, request.loss.frames, request.loss.application);
  at.put("max-loss", request.loss.max_loss).put("calibration", request.loss.calibration);
  at.put("labels-from", request.loss.application.labels_from);
  bind_searches(at, options);
  bind_search(at, request.search);
  bind_genetic(at, request.genetic);
  at.put("devices", request.by_hand.devices).put("cut-points", request.by_hand.cut_points);
  at.put("streams", request.by_hand.streams);
  bind_limits(at, request);
  bind_deploy(at, options.deploy);
  bind_admit(at, options.admit);
  at.put("output", options.output).put("write-application", options.application);
  at.put("why", request.why).put("json", options.json).put("verbose", options.verbose);
}

int plan_system(PlanOptions& options, const CLI::App& verb) {
  const product::PlanRequest& request = options.request;
  if (options.deploy.request.method == "admission") {
    refuse_all_but(verb, "admission",
                   {{"admission"}, {"method", "board", "engine", "search-time", "json"}});
    options.admit.json = options.json;
    product::AdmitRequest& admit = options.admit.request;
    admit.system = request.setup.source.file;
    admit.board = request.board;
    admit.engine = request.setup.engine;
    admit.context = request.setup.context;
    return run_admit(options.admit);
  }
  refuse_all_but(verb, "systems",
                 {{"system"},
                  {"processors", "engine-library", "engine-option", "board", "samples", "profile",
                   "plugin", "population", "patience", "output", "json", "seed"}});
  options.deploy.json = options.json;
  options.deploy.output = options.output;
  product::DeployRequest& deploy = options.deploy.request;
  deploy.system = request.setup.source.file;
  deploy.board = request.board;
  deploy.processors = request.setup.processors;
  deploy.plugins = request.loss.application.plugins;
  deploy.profile = request.profile;
  deploy.seed = request.setup.source.seed;
  deploy.context = request.setup.context;
  return run_deploy(options.deploy);
}

int run_on_rank(PlanOptions& options, const CLI::App& verb) {
  const std::string file = options.request.setup.source.file;
  std::error_code ignored;
  const bool is_deployment =
      std::filesystem::exists(file, ignored) && deployment::is_deployment_file(file);
  if (product::is_system_file(file) || is_deployment || !options.deploy.request.method.empty())
    return plan_system(options, verb);
  for (const char* area : {"system", "admission"}) refuse_area(verb, area, "systems");
  if (options.output.empty() && options.request.why.empty())
    options.output = std::filesystem::path(file).stem().string() + ".plan.json";
  refuse_two_results(options.json, options.output);
  check_plan_output(options.request, options.output, options.application);
  if (!options.application.empty())
    check_tuned_application(options.request, {options.output, options.application});
  const product::PlanResult result = make_plan(options.request);
  const bool is_quiet = options.output == standard_output;  // where the plan itself goes
  if (!options.json && !is_quiet) show(present::attempts_text(result));
  const bool is_planned = result.refusal.empty();
  if (is_planned && !options.output.empty()) product::write_planned(options.output, result);
  if (is_planned && !options.application.empty())
    write_tuned_application(options.request, result, {options.output, options.application});
  if (options.json)
    show(present::planning_json(result, options.output));
  else if (is_planned && !is_quiet)
    show((options.verbose ? present::plan_text : present::plan_answer)(result, options.request,
                                                                       options.output));
  return is_planned ? 0 : answer_is_no;
}

int run(const PlanOptions& given, const CLI::App& verb) {
  PlanOptions options = given;
  return remote::on_all_ranks(options.request.setup.context,
                              [&] { return run_on_rank(options, verb); });
}

}  // namespace

void add_plan(CLI::App& app, int& exit_code) {
  add_verb<PlanOptions>(app, exit_code, {"plan", bind, run});
}

}  // namespace millrace::cli
