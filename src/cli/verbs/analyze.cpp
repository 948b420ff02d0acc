// millrace analyze PLAN|DEPLOYMENT
#include "api/analyze.h"

#include <fmt/format.h>

#include "api/deployment/analyze.h"
#include "api/json/analysis.h"
#include "api/text/analysis.h"
#include "api/written_over.h"
#include "base/printable.h"
#include "cli/options/common.h"
#include "cli/options/duration.h"
#include "cli/options/file_names.h"
#include "cli/options/of_kind.h"
#include "cli/options/range_check.h"
#include "cli/print/progress.h"
#include "cli/verbs/verbs.h"
#include "deployment/deployment_file.h"
#include "report/deadlines.h"

namespace millrace::cli {
namespace {

struct AnalyzeOptions {
  api::AnalyzeRequest request;
  api::DeadlinesRequest deadlines;
  std::string gantt;
  int simulate = 1000;
  bool json = false;
  std::vector<CLI::Option*> of_plans, of_deployments;
};

void bind_plan(CLI::App& verb, AnalyzeOptions& options) {
  api::AnalyzeRequest& request = options.request;
  begin_group(verb, "Of plans");
  CLI::Option* model = verb.add_option("model,--model", request.model, model_moved);
  CLI::Option* measure = verb.add_flag("--measure", request.measure,
                                       "Run the plan here and compare it with the proven "
                                       "throughput");
  CLI::Option* duration =
      verb.add_option("--duration", request.duration_s, "How long to measure, in seconds")
          ->transform(in_seconds())
          ->check(between(0.01, 86400.0))
          ->capture_default_str()
          ->needs(measure);
  CLI::Option* recorded =
      verb.add_option("--recorded", request.recorded,
                      "A trace that `run` or `bench` wrote. The proof uses the mean times of its "
                      "phases, and is compared with its frames")
          ->excludes(measure);
  options.of_plans = {model, measure, duration, recorded};
}

void bind_deployment(CLI::App& verb, AnalyzeOptions& options) {
  api::DeadlinesRequest& deadlines = options.deadlines;
  begin_group(verb, "Of deployments");
  options.of_deployments = {
      verb.add_option("--scenario", deadlines.scenario, "This scenario only"),
      verb.add_option("--level", deadlines.level,
                      "This level of the rates only; 0 has the lowest ones"),
      verb.add_flag("--max-rate", deadlines.rates,
                    "Find the highest rates at which every deadline holds: the common factor, and "
                    "which scenario and processor allow no more"),
      verb.add_option("--simulate", options.simulate,
                      "How many runs of each scenario to simulate; 0: none")
          ->check(CLI::Range(0, 10'000'000))
          ->capture_default_str(),
      verb.add_option("--gantt", options.gantt,
                      "Draw the simulated run with the longest response of the group with the "
                      "least slack into this SVG file")
          ->check(svg_name()),
      verb.add_option("--profile", deadlines.profile,
                      "A file of `profile SYSTEM`: its times count for the tasks that it has")};
}

void bind(CLI::App& verb, AnalyzeOptions& options) {
  attach_terminal(options.request.context);
  attach_terminal(options.deadlines.context);
  verb.add_option("file", options.request.plan, "A plan, or a deployment of a system")->required();
  bind_plan(verb, options);
  bind_deployment(verb, options);
  begin_group(verb, "Output");
  verb.add_option("--seed", options.request.seed, "Seed of all random numbers")
      ->capture_default_str();
  bind_json(verb, options.json);
}

int analyze_deployment(const AnalyzeOptions& options) {
  const std::string& file = options.request.plan;
  refuse_given(options.of_plans, file, "plans");
  if (!options.gantt.empty()) {
    api::FilesRead files;
    files.add_deployment(file, {});
    files.add("profile", options.deadlines.profile);
    files.refuse_unwritable({options.gantt});
  }
  api::DeadlinesRequest request = options.deadlines;
  request.deployment = file;
  request.simulation = {options.request.seed, options.simulate};
  const analysis::DeploymentAnswers answers = api::analyze_deadlines(request);
  fmt::print("{}", options.json ? report::deadlines_json(answers)
                                : printable_lines(report::deadlines_text(answers)));
  if (!options.gantt.empty()) {
    const std::string picture = report::deadlines_gantt(answers);
    picture.empty() ? note("nothing was simulated, so that --gantt has nothing to draw")
                    : write_file(options.gantt, picture);
  }
  for (const analysis::DeadlineAnswers& one : answers.operations)
    if (!one.is_schedulable()) note(file + ": " + one.reason);
  return answers.is_schedulable() ? 0 : answer_is_no;
}

int run(const AnalyzeOptions& options) {
  if (deployment::is_deployment_file(options.request.plan)) return analyze_deployment(options);
  refuse_given(options.of_deployments, options.request.plan, "deployments");
  const api::Analysis analysis = analyze(options.request);
  fmt::print(
      "{}", options.json ? analysis_json(analysis) : printable_lines(api::analysis_text(analysis)));
  return 0;
}

}  // namespace

void add_analyze(CLI::App& app, int& exit_code) {
  add_verb<AnalyzeOptions>(app, exit_code,
                           {{"analyze",
                             "Prove that a plan cannot deadlock; compute its largest throughput, "
                             "latency and buffers. Or bound the response times of a deployment",
                             "millrace analyze resnet18.plan.json --measure"},
                            bind,
                            run});
}

}  // namespace millrace::cli
