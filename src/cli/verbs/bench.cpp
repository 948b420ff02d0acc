// millrace bench PLAN|MODEL|APPLICATION
#include "api/bench/bench.h"

#include <fmt/format.h>

#include <charconv>
#include <iostream>

#include "api/bench/slices.h"
#include "api/json/bench.h"
#include "api/simulated_board.h"
#include "api/text/bench.h"
#include "api/written_over.h"
#include "application/application_file.h"
#include "base/error.h"
#include "cli/options/common.h"
#include "cli/options/duration.h"
#include "cli/options/range_check.h"
#include "cli/options/runnable.h"
#include "cli/verbs/application.h"
#include "cli/verbs/verbs.h"

namespace millrace::cli {
namespace {

struct BenchOptions {
  api::BenchRequest request;
  api::ApplicationOptions application;
  bool json = false, on_request = false;
  std::string svg;
};

void bind(CLI::App& verb, BenchOptions& options) {
  api::BenchRequest& request = options.request;
  bind_runnable(verb, request.runnable, "A plan file (.json), an application (.yaml)");
  bind_application(verb, options.application);
  CLI::Option* svg = verb.add_option(
      "--svg", options.svg, "Draw what each technique adds to the application, into this SVG file");
  begin_group(verb, "Measurement");
  CLI::Option* duration =
      verb.add_option("--duration", request.duration_s,
                      "How long each row of the table runs, in seconds or as 200ms")
          ->transform(in_seconds())
          ->check(between(0.01, 86400.0))
          ->capture_default_str();
  verb.add_option("--warmup", request.warmup_s,
                  "How long each row runs before it is measured, in seconds or as 200ms")
      ->transform(in_seconds())
      ->check(between(0.0, 3600.0))
      ->capture_default_str();
  verb.add_option(
          "--in-flight", request.in_flight,
          "Largest number of frames in the pipeline; 0: as many as fit. Default: as many as keep "
          "all stages busy")
      ->check(CLI::Range(0, 1 << 20));
  CLI::Option* rounds =
      verb.add_option("--rounds", request.rounds,
                      "How often each row runs; the rows are interleaved, and the table shows "
                      "medians. Default: 25, fewer for slow networks, 5 for an application")
          ->check(CLI::Range(1, 1000));
  CLI::Option* beside =
      verb.add_option("--beside", request.beside,
                      "Another plan of the same network, shown as one more row (repeatable)")
          ->expected(1)
          ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  CLI::Option* no_baselines = verb.add_flag("!--no-baselines", request.baselines,
                                            "Measure only the plan, without baselines");
  begin_group(verb, "Output");
  CLI::Option* json = bind_json(verb, options.json);
  CLI::Option* on_request = verb.add_flag(
      "--on-request", options.on_request,
      "Measure on request, for programs: each line on standard input asks for that many seconds, "
      "and a line of JSON answers");
  CLI::Option* scale = bind_time_scale(verb, request.runnable);
  CLI::Option* trace = bind_trace(verb, request.trace);
  for (CLI::Option* ignored : {duration, rounds, beside, no_baselines, json, scale, trace, svg})
    on_request->excludes(ignored);
}

/// "0.5", in a line of standard input.
Time parse_duration(const std::string& line, int number) {
  constexpr double longest_s = 3600;
  double value = 0;
  const char* const end = line.data() + line.size();
  const auto [stop, error] = std::from_chars(line.data(), end, value);
  if (error != std::errc{} || stop != end || !(value > 0 && value <= longest_s))
    throw InputError(fmt::format("standard input: line {}", number),
                     fmt::format("found '{}', expected a number of seconds above 0 and at most "
                                 "{:.0f}",
                                 line, longest_s));
  return time_from_seconds(value);
}

void print_now(const std::string& line) {
  fmt::print("{}", line);
  std::fflush(stdout);  // the reader waits for it
}

/// Each line of standard input asks for a slice, and a line of JSON answers.
void serve_standard_input(const api::Loaded& loaded, const api::BenchRequest& request) {
  int number = 0;
  api::SliceClient client;
  client.ready = [](Time first) { print_now(api::ready_line(first)); };
  client.next = [&]() -> std::optional<Time> {
    std::string line;
    if (!std::getline(std::cin, line)) return std::nullopt;
    return parse_duration(line, ++number);
  };
  client.ran = [](const runtime::Load& load) { print_now(api::slice_line(load)); };
  serve_slices(loaded, request, client);
}

int bench_as_application(const BenchOptions& options) {
  const api::BenchRequest& request = options.request;
  const char* given = !request.beside.empty()       ? "--beside"
                      : !request.trace.file.empty() ? "--trace"
                      : request.in_flight           ? "--in-flight"
                      : !request.baselines          ? "--no-baselines"
                                                    : nullptr;
  if (given != nullptr)
    throw InputError(given, "is only for plans and models, not for an application; leave it out");
  return bench_application(request.runnable, options.application,
                           {request.rounds.value_or(5), options.json, options.svg});
}

void check_trace_file(const api::BenchRequest& request) {
  if (request.trace.file.empty()) return;
  api::FilesRead files;
  files.add(request.runnable);
  for (const std::string& plan : request.beside) files.add_plan(plan);
  files.refuse_unwritable({request.trace.file});
}

int run(const BenchOptions& options) {
  const api::BenchRequest& request = options.request;
  const std::string& file = request.runnable.model.source.file;
  check_trace_file(request);
  if (application::is_application_file(file)) return bench_as_application(options);
  refuse_application_options(options.application, file);
  if (!options.svg.empty())
    throw InputError("--svg " + options.svg,
                     "shows the techniques of an application (.yaml), but '" + file +
                         "' is not one; leave it out");
  const auto loaded = load_runnable(request.runnable);
  if (loaded->plan.stages.empty()) {
    fmt::print("{}", options.json ? api::bench_json({})
                                  : loaded->network.name +
                                        " has no layers to run: all its outputs are inputs or "
                                        "constants\n");
    return 0;
  }
  if (!api::is_plan_file(file)) choose_variants(*loaded);
  loaded->context.note("inputs are random");
  note_simulation(*loaded);
  if (options.on_request) {
    serve_standard_input(*loaded, request);
    return 0;
  }
  const api::BenchResult result = bench(*loaded, request);
  if (options.json)
    fmt::print("{}", bench_json(result));
  else
    fmt::print("{}, {} round{}\n\n{}", api::bench_title(*loaded), result.alone.size(),
               result.alone.size() == 1 ? "" : "s", api::bench_text(result));
  return 0;
}

}  // namespace

void add_bench(CLI::App& app, int& exit_code) {
  add_verb<BenchOptions>(app, exit_code,
                         {{"bench",
                           "Measure throughput and latency on random inputs, compared with other "
                           "ways to use this machine's cores",
                           "millrace bench resnet18.plan.json --duration 10"},
                          bind,
                          run});
}

}  // namespace millrace::cli
