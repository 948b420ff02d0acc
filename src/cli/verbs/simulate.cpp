// millrace simulate PLAN|DEPLOYMENT...
#include "api/simulate.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/written_over.h"
#include "base/error.h"
#include "base/file.h"
#include "base/printable.h"
#include "base/quantity.h"
#include "cli/options/common.h"
#include "cli/options/file_names.h"
#include "cli/options/of_kind.h"
#include "cli/options/range_check.h"
#include "cli/print/progress.h"
#include "cli/verbs/simulate_drive.h"
#include "cli/verbs/verbs.h"
#include "deployment/deployment_file.h"
#include "report/drive.h"
#include "report/gantt.h"
#include "report/simulation.h"

namespace millrace::cli {
namespace {

struct SimulateOptions {
  std::vector<std::string> plans, models, periods, jitters, deadlines;
  std::string arrivals, times = "fixed", policy = "fifo-subnet", order = "runtime";
  std::vector<std::string> scales, powers, recorded;
  std::optional<std::int64_t> frames, in_flight;
  std::int64_t traced_frames = 100, gantt_frames = 12;
  double best = 1, worst = 1.5;
  std::uint64_t seed = 1;
  std::string trace, gantt;
  bool json = false;
  DriveVerbOptions drive;
  std::vector<CLI::Option*> of_plans, of_drawn;
};

constexpr const char* names_of_plans[] = {
    "--model", "--frames", "--arrivals", "--period", "--jitter", "--deadline", "--in-flight",
    "--best",  "--worst",  "--recorded", "--policy", "--order",  "--scale",    "--power"};

void bind_arrivals(CLI::App& verb, SimulateOptions& options) {
  begin_group(verb, "Arrivals");
  verb.add_option("--frames", options.frames,
                  "Smallest number of frames of each plan. Default: 1000, or as many as were "
                  "recorded")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000'000}));
  verb.add_option("--arrivals", options.arrivals,
                  "When frames arrive. closed: as soon as there is space; periodic: every "
                  "--period; poisson: at random, one every --period on average. Default: periodic "
                  "with a --period, else closed")
      ->check(CLI::IsMember({"closed", "periodic", "poisson"}));
  verb.add_option("--period", options.periods,
                  "Time between two frames, such as 20ms; or one for each plan, such as 20ms,33ms")
      ->delimiter(',');
  verb.add_option("--jitter", options.jitters,
                  "Largest delay of a periodic frame, such as 2ms; or one for each plan")
      ->delimiter(',');
  verb.add_option("--deadline", options.deadlines,
                  "Largest time from a frame's arrival to its last result, or one for each plan. "
                  "The exit code is 1 if a frame takes longer")
      ->delimiter(',');
  verb.add_option(
          "--in-flight", options.in_flight,
          "Largest number of frames in the pipeline, for closed arrivals; 0: as many as fit. "
          "Default: as many as keep all stages busy")
      ->check(CLI::Range(0, 1'000'000));
}

void bind_times(CLI::App& verb, SimulateOptions& options) {
  begin_group(verb, "Times and processors");
  CLI::Option* times =
      verb.add_option("--times", options.times,
                      "Times of phases. fixed: as the plan predicts; drawn: at random between "
                      "--best and --worst. For a deployment, fixed: the worst times; drawn: at "
                      "random between the best and the worst")
          ->check(CLI::IsMember({"fixed", "drawn"}))
          ->capture_default_str();
  options.of_drawn = {
      verb.add_option("--best", options.best,
                      "The shortest drawn time, as a multiple of the predicted time"),
      verb.add_option("--worst", options.worst,
                      "The longest drawn time, as a multiple of the predicted time")};
  for (CLI::Option* each : options.of_drawn) each->check(between(1e-6, 1e6))->capture_default_str();
  verb.add_option("--recorded", options.recorded,
                  "A trace that `run` or `bench` wrote, one for each plan. Every firing takes the "
                  "recorded time")
      ->excludes(times);
  verb.add_option("--policy", options.policy,
                  "How stages share a processor. fifo-subnet: first come, first served, by phases; "
                  "fifo-kernel: the same, by layers; preemptive: the first plan has the highest "
                  "priority")
      ->check(CLI::IsMember({"fifo-subnet", "fifo-kernel", "preemptive"}))
      ->capture_default_str();
  verb.add_option("--order", options.order,
                  "How a stage chooses its next phase. runtime: only among frames that arrived; "
                  "graph: always in the fixed order of the proof")
      ->check(CLI::IsMember({"runtime", "graph"}))
      ->capture_default_str();
}

void bind_pictures(CLI::App& verb, SimulateOptions& options) {
  begin_group(verb, "Output");
  CLI::Option* gantt = verb.add_option("--gantt", options.gantt,
                                       "Draw the first frames as a Gantt chart into this SVG file")
                           ->check(svg_name());
  verb.add_option("--gantt-frames", options.gantt_frames,
                  "The chart ends when a plan has completed this number of frames")
      ->needs(gantt)
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  CLI::Option* trace = verb.add_option(
      "--trace", options.trace, "Write a trace of the first frames; open it in ui.perfetto.dev");
  verb.add_option("--trace-frames", options.traced_frames,
                  "Number of frames of each plan in the trace")
      ->needs(trace)
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
}

void bind(CLI::App& verb, SimulateOptions& options) {
  verb.add_option("plans", options.plans,
                  "Plan files, which run at the same time; or one deployment of a system")
      ->required();
  verb.add_option("--model", options.models, "The model of each plan, if the files were moved");
  bind_arrivals(verb, options);
  bind_times(verb, options);
  verb.add_option("--scale", options.scales,
                  "Multiply all times on a processor, such as core0=1.3 (repeatable)");
  verb.add_option("--power", options.powers,
                  "Power of a processor when busy and idle, in mW, such as core0=3500/400 "
                  "(repeatable)");
  verb.add_option("--seed", options.seed, "Seed of all random numbers")->capture_default_str();
  bind_drive(verb, options.drive);
  bind_pictures(verb, options);
  bind_json(verb, options.json);
  for (const char* name : names_of_plans) options.of_plans.push_back(verb.get_option(name));
}

/// One for all plans, or one for each; nothing if none was given.
Time duration_of(const std::vector<std::string>& texts, std::size_t plan, std::size_t plans,
                 const char* option) {
  if (texts.empty()) return Time{};
  if (texts.size() != 1 && texts.size() != plans)
    throw InputError(option, fmt::format("found {} times for {} plans; give one for all, or one "
                                         "for each",
                                         texts.size(), plans));
  return read_duration(texts[texts.size() == 1 ? 0 : plan], option);
}

simulate::Release release_of(const SimulateOptions& options, std::size_t index) {
  using simulate::Arrivals;
  simulate::Release release;
  const std::size_t count = options.plans.size();
  const std::string arrivals = !options.arrivals.empty() ? options.arrivals
                               : options.periods.empty() ? "closed"
                                                         : "periodic";
  release.period = duration_of(options.periods, index, count, "--period");
  release.jitter = duration_of(options.jitters, index, count, "--jitter");
  release.in_flight = options.in_flight.value_or(0);
  release.arrivals = arrivals == "closed"     ? Arrivals::closed
                     : arrivals == "periodic" ? Arrivals::periodic
                                              : Arrivals::poisson;
  if (release.arrivals == Arrivals::closed && release.period > Time{})
    throw InputError("--period",
                     "closed arrivals have no period; leave it out, or give --arrivals "
                     "periodic or poisson");
  if (release.arrivals != Arrivals::closed && release.period == Time{})
    throw InputError("--arrivals " + arrivals, "needs a period; give one, such as --period 20ms");
  if (release.arrivals != Arrivals::periodic && release.jitter > Time{})
    throw InputError("--jitter",
                     "only periodic arrivals have a jitter; give a --period, or leave it out");
  return release;
}

/// "core0=1.3": the processor's options and the text behind "=".
std::pair<simulate::ProcessorOptions*, std::string> named(simulate::Options& options,
                                                          const std::string& text,
                                                          const char* option) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos)
    throw InputError(option, fmt::format("found '{}', expected a processor's name and a value, "
                                         "such as core0=1.3",
                                         text));
  const std::string name = text.substr(0, equals);
  const auto [entry, fresh] = options.processors.try_emplace(name, options.others);
  return {&entry->second, text.substr(equals + 1)};
}

double number(const std::string& text, const char* option) {
  double value = 0;
  if (!CLI::detail::lexical_cast(text, value) || !(value >= 0))
    throw InputError(option, fmt::format("found '{}', expected a number not below 0", text));
  return value;
}

simulate::Options simulation_options(const SimulateOptions& options) {
  using simulate::Policy;
  simulate::Options result;
  result.seed = options.seed;
  result.others.policy = options.policy == "preemptive"    ? Policy::preemptive
                         : options.policy == "fifo-kernel" ? Policy::fifo_by_kernel
                                                           : Policy::fifo_by_subnet;
  for (const std::string& text : options.scales) {
    const auto [processor, value] = named(result, text, "--scale");
    processor->scale = number(value, "--scale");
  }
  for (const std::string& text : options.powers) {
    const auto [processor, value] = named(result, text, "--power");
    const std::size_t slash = value.find('/');
    processor->busy_mw = number(value.substr(0, slash), "--power");
    if (slash != std::string::npos) processor->idle_mw = number(value.substr(slash + 1), "--power");
  }
  constexpr std::int64_t on_their_way = 1000;  // the chart shows those of them that are begun
  if (!options.trace.empty()) result.traced_frames = options.traced_frames;
  if (!options.gantt.empty())
    result.traced_frames = std::max(result.traced_frames, options.gantt_frames + on_their_way);
  return result;
}

void write_pictures(const SimulateOptions& options, const Trace& trace, const std::string& title) {
  if (!options.trace.empty())
    write_chrome_trace(options.trace, report::first_frames(trace, options.traced_frames));
  if (options.gantt.empty()) return;
  write_file(options.gantt,
             report::gantt_svg(trace, {.title = title + ", simulated",
                                       .to = report::completion_of(trace, options.gantt_frames)}));
}

void check_outputs(const SimulateOptions& options) {
  api::FilesRead files;
  for (std::size_t i = 0; i < options.plans.size(); ++i)
    files.add_plan(options.plans[i], i < options.models.size() ? options.models[i] : "");
  for (const std::string& recorded : options.recorded) files.add("recorded trace", recorded);
  files.refuse_unwritable({options.trace, options.gantt});
}

api::SimulateRequest request_of(const SimulateOptions& options) {
  api::SimulateRequest request;
  request.options = simulation_options(options);
  request.has_powers = !options.powers.empty();
  const std::size_t count = options.plans.size();
  if (!options.models.empty() && options.models.size() != count)
    throw InputError("--model", fmt::format("given {} times for {} plans; give it once for each",
                                            options.models.size(), count));
  if (!options.recorded.empty() && options.recorded.size() != count)
    throw InputError("--recorded", fmt::format("given {} times for {} plans; give it once for each",
                                               options.recorded.size(), count));
  for (std::size_t i = 0; i < count; ++i)
    request.plans.push_back({options.plans[i], options.models.empty() ? "" : options.models[i],
                             options.recorded.empty() ? "" : options.recorded[i],
                             release_of(options, i),
                             duration_of(options.deadlines, i, count, "--deadline")});
  request.frames = options.frames;
  request.enough_in_flight = !options.in_flight;
  if (options.order == "graph") request.order = simulate::Order::graph;
  request.drawn = options.times == "drawn";
  request.best = options.best;
  request.worst = options.worst;
  attach_terminal(request.context);
  return request;
}

bool is_deployment(const SimulateOptions& options) {
  const bool found = std::ranges::any_of(
      options.plans, [](const std::string& file) { return deployment::is_deployment_file(file); });
  if (found && options.plans.size() > 1)
    throw InputError("simulate", fmt::format("found {} files, one of them a deployment; simulate "
                                             "one deployment at a time, without plans",
                                             options.plans.size()));
  return found;
}

int run_deployment(const SimulateOptions& options) {
  const std::string& file = options.plans.front();
  refuse_given(options.of_plans, file, "plans");
  api::FilesRead files;
  files.add_deployment(file, options.drive.request.script);
  files.refuse_unwritable({options.trace, options.gantt});
  api::DriveRequest request = options.drive.request;
  request.deployment = file;
  request.seed = options.seed;
  request.drawn = options.times == "drawn";
  request.traced_frames = simulation_options(options).traced_frames;
  attach_terminal(request.context);
  const simulate::SimulatedDrive simulated = api::simulate_drive(request);
  write_pictures(options, simulated.drive.trace, simulated.deployment.system.name);
  fmt::print("{}", options.json ? report::drive_json(simulated)
                                : printable_lines(report::drive_text(simulated)));
  return simulated.has_misses() ? answer_is_no : 0;
}

int run(const SimulateOptions& options) {
  if (is_deployment(options)) return run_deployment(options);
  refuse_unless(options.times == "drawn", options.of_drawn, "--times drawn");
  refuse_given(options.drive.options, options.plans.front(), "deployments");
  check_outputs(options);
  const simulate::Simulated simulated = simulate_plans(request_of(options));
  write_pictures(options, simulated.result.trace, report::names_of(simulated));
  fmt::print("{}", options.json ? report::simulation_json(simulated)
                                : printable_lines(report::simulation_text(simulated)));
  for (const simulate::ApplicationResult& result : simulated.result.applications)
    if (result.missed > 0) return answer_is_no;
  return 0;
}

}  // namespace

void add_simulate(CLI::App& app, int& exit_code) {
  add_verb<SimulateOptions>(
      app, exit_code,
      {{"simulate",
        "Predict throughput, latency and missed deadlines of one or several plans, or of a "
        "deployment on a drive, without running them",
        "millrace simulate resnet18.plan.json --period 20ms --deadline 60ms --times "
        "drawn"},
       bind,
       run});
}

}  // namespace millrace::cli
