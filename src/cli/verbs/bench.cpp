// millrace bench PLAN|MODEL|APPLICATION
#include "product/bench/bench.h"

#include <fmt/format.h>

#include <charconv>
#include <iostream>

#include "application/application_file.h"
#include "base/error.h"
#include "cli/options/request.h"
#include "cli/print/progress.h"
#include "cli/verbs/application.h"
#include "cli/verbs/verbs.h"
#include "present/results/bench.h"
#include "product/planning/plan_here.h"
#include "product/written_over.h"

namespace millrace::cli {
namespace {

struct BenchOptions {
  product::BenchRequest request;
  product::ApplicationOptions application;
  bool json = false, on_request = false, all = false;
  std::string svg;
};

void bind(Places& at, BenchOptions& options) {
  product::BenchRequest& request = options.request;
  bind_runnable(at, request.runnable, "A plan file (.json), an application (.yaml)");
  bind_application(at, options.application);
  bind_trace(at, request.trace);
  at.put("svg", options.svg).put("time-scale", request.runnable.time_scale);
  at.put("duration", request.duration_s).put("warmup", request.warmup_s);
  at.put("in-flight", request.in_flight).put("rounds", request.rounds);
  at.put("beside", request.beside).put("no-baselines", request.baselines);
  at.put("on-request", options.on_request).put("json", options.json).put("verbose", options.all);
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
  show(line);
  std::fflush(stdout);  // the reader waits for it
}

/// Each line of standard input asks for a slice, and a line of JSON answers.
void serve_standard_input(const product::Loaded& loaded, const product::BenchRequest& request) {
  int number = 0;
  product::SliceClient client{.seed = request.runnable.model.source.seed};
  client.ready = [](Time first) { print_now(present::ready_line(first)); };
  client.next = [&]() -> std::optional<Time> {
    std::string line;
    if (!std::getline(std::cin, line)) return std::nullopt;
    return parse_duration(line, ++number);
  };
  client.ran = [](const runtime::Load& load) { print_now(present::slice_line(load)); };
  product::serve_slices(loaded, request, client);
}

int bench_as_application(const BenchOptions& options) {
  const product::BenchRequest& request = options.request;
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

void check_trace_file(const product::BenchRequest& request) {
  if (request.trace.file.empty()) return;
  product::FilesRead files;
  files.add(request.runnable);
  for (const std::string& plan : request.beside) files.add_plan(plan);
  files.refuse_unwritable({request.trace.file});
}

int run(const BenchOptions& options, const CLI::App&) {
  const product::BenchRequest& request = options.request;
  const std::string& file = request.runnable.model.source.file;
  check_trace_file(request);
  if (application::is_application_file(file)) return bench_as_application(options);
  refuse_application_options(options.application, file);
  if (!options.svg.empty())
    throw InputError("--svg " + options.svg,
                     "shows the techniques of an application (.yaml); leave it out of " + file);
  const auto loaded = load_runnable(request.runnable);
  if (loaded->plan.stages.empty()) {
    show(options.json ? present::bench_json({})
                      : loaded->network.name +
                            " has no layers to run: all its "
                            "outputs are inputs or constants\n");
    return 0;
  }
  if (!product::is_plan_file(file)) plan_here(*loaded, request.runnable.model);
  loaded->context.note("inputs are random");
  if (options.on_request) {
    serve_standard_input(*loaded, request);
    return 0;
  }
  const product::BenchResult result = bench(*loaded, request);
  if (options.json)
    show(present::bench_json(result));
  else
    show(options.all ? present::bench_text(*loaded, result)
                     : present::bench_answer(*loaded, result, file));
  return 0;
}

}  // namespace

void add_bench(CLI::App& app, int& exit_code) {
  add_verb<BenchOptions>(app, exit_code, {"bench", bind, run});
}

}  // namespace millrace::cli
