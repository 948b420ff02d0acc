// millrace plan MODEL|APPLICATION
#include "api/planning/make_plan.h"

#include <fmt/format.h>

#include <filesystem>

#include "api/json/planning.h"
#include "api/planning/tuned_application.h"
#include "api/text/planning.h"
#include "base/file.h"
#include "base/quantity.h"
#include "cli/options/common.h"
#include "cli/options/duration.h"
#include "cli/options/frames.h"
#include "cli/options/model.h"
#include "cli/options/range_check.h"
#include "cli/options/search.h"
#include "cli/verbs/verbs.h"
#include "plan/build.h"
#include "plan/plan_file.h"

namespace millrace::cli {
namespace {

struct PlanOptions {
  api::PlanRequest request;
  std::string output, application;
  bool json = false;
};

void bind_limits(CLI::App& verb, api::PlanRequest& request) {
  begin_group(verb, "Latency");
  const auto set_latency = [&request](const std::string& text) {
    request.max_latency = read_duration(text, "--max-latency");
  };
  CLI::Option* latency = verb.add_option_function<std::string>(
      "--max-latency", set_latency,
      "Largest predicted time from a frame's submission to its result, such as 100ms. With "
      "it, the last layers may work on batches of frames");
  verb.add_option("--max-batch", request.max_batch,
                  "Largest batch that --max-latency may use, in frames")
      ->check(CLI::Range(1, 16))
      ->needs(latency)
      ->capture_default_str();
  begin_group(verb, "Memory");
  const auto set_memory = [&request](const std::string& text) {
    request.max_memory = read_bytes(text, "--max-memory");
  };
  verb.add_option_function<std::string>("--max-memory", set_memory,
                                        "Largest memory of the buffers between stages, such as "
                                        "256MiB. With less, stages may wait for each other")
      ->default_str(bytes_text(plan::BuildOptions{}.most_memory));
}

void bind(CLI::App& verb, PlanOptions& options) {
  api::PlanRequest& request = options.request;
  bind_model(verb, request.setup);
  bind_processors(verb, request.setup);
  bind_variants(verb, request.variants);
  bind_loss(verb, request.loss);
  bind_search(verb, request.search, request.genetic);
  bind_configuration_search(verb, request.search);
  bind_by_hand(verb, request.by_hand);
  begin_group(verb, "Times and boards");
  CLI::Option* profile =
      verb.add_option("--profile", request.profile,
                      "Use the times of this profile instead of the stored one");
  CLI::Option* measure = verb.add_option("--measure", request.measure_s,
                                         "How long each candidate runs, in seconds or as 200ms; "
                                         "0: use the predictions")
                             ->transform(in_seconds())
                             ->check(between(0.0, 3600.0))
                             ->capture_default_str();
  verb.add_option(
          "--board", request.board,
          "Plan for a shipped board or a board file instead of this machine. Times are modelled, "
          "not measured")
      ->excludes(profile)
      ->excludes(measure)
      ->excludes(verb.get_option("--max-loss"))
      ->excludes(verb.get_option("--max-error"));
  verb.add_option(
          "--limits", request.limits,
          "Apply the limits of this board file to this machine's processors of the same names: "
          "operators, precisions, granularity, subnets")
      ->excludes(verb.get_option("--board"));
  bind_limits(verb, request);
  begin_group(verb, "Output");
  verb.add_option("-o,--output", options.output,
                  "The plan file to write; default: NAME.plan.json, and none with --why");
  verb.add_option("--write-application", options.application,
                  "For an application: also write it with the plan and the threads that the search "
                  "found, to this file in its folder");
  verb.add_option("--why", request.why,
                  "Explain why this layer is on its processor (repeatable). The plan is written "
                  "only with --output");
  bind_json(verb, options.json);
}

int run(const PlanOptions& given) {
  PlanOptions options = given;
  if (options.output.empty() && options.request.why.empty())
    options.output =
        std::filesystem::path(options.request.setup.source.file).stem().string() + ".plan.json";
  refuse_two_results(options.json, options.output);
  check_plan_output(options.request, options.output, options.application);
  if (!options.application.empty())
    check_tuned_application(options.request, {options.output, options.application});
  const api::PlanResult result = make_plan(options.request);
  const bool is_quiet = options.output == standard_output;  // where the plan itself goes
  if (!options.json && !is_quiet) fmt::print("{}", attempts_text(result));
  const bool is_planned = result.refusal.empty();
  if (is_planned && !options.output.empty())
    plan::write_plan(options.output, result.file, result.network);
  if (is_planned && !options.application.empty())
    write_tuned_application(options.request, result, {options.output, options.application});
  if (options.json)
    fmt::print("{}", planning_json(result, options.output));
  else if (is_planned && !is_quiet)
    fmt::print("{}", plan_text(result, options.request, options.output));
  return is_planned ? 0 : answer_is_no;
}

}  // namespace

void add_plan(CLI::App& app, int& exit_code) {
  add_verb<PlanOptions>(app, exit_code,
                        {{"plan",
                          "Search for the best way to distribute a network over the processors",
                          "millrace plan resnet18.onnx -o resnet18.plan.json"},
                         bind,
                         run});
}

}  // namespace millrace::cli
