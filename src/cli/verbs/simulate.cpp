// millrace simulate PLAN...|DEPLOYMENT|GRAPH|TASK_SYSTEM|PROGRAM
#include "product/simulate.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/file.h"
#include "base/printable.h"
#include "base/quantity.h"
#include "formats/files/file_kind.h"
#include "cli/print/progress.h"
#include "cli/verbs/kinds.h"
#include "cli/verbs/tiles.h"
#include "cli/verbs/verbs.h"
#include "present/results/drive.h"
#include "present/results/simulation.h"
#include "present/svg/gantt.h"
#include "product/deployment/simulate.h"
#include "product/written_over.h"

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
  product::DriveRequest drive;
  TilesToSimulate tiles;
};

void bind(Places& at, SimulateOptions& options) {
  at.word("files", options.plans,
          "Plan files, which run at the same time; or one deployment, dataflow graph of SDF3, task "
          "system or program of tiles")
      ->required();
  at.put("model", options.models).put("frames", options.frames).put("arrivals", options.arrivals);
  at.put("period", options.periods).put("jitter", options.jitters);
  at.put("deadline", options.deadlines).put("in-flight", options.in_flight);
  at.put("times", options.times).put("best", options.best).put("worst", options.worst);
  at.put("recorded", options.recorded).put("policy", options.policy).put("order", options.order);
  at.put("scale", options.scales).put("power", options.powers).put("seed", options.seed);
  at.put("scenario-script", options.drive.script).put("transitions", options.drive.transitions);
  at.put("duration", options.drive.duration_s).put("trace", options.trace);
  at.put("releases", options.drive.releases);
  at.put("trace-frames", options.traced_frames).put("gantt", options.gantt);
  at.put("gantt-frames", options.gantt_frames).put("board", options.tiles.board);
  at.put("streams", options.tiles.streams).put("beside", options.tiles.beside);
  at.put("json", options.json);
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
    write_chrome_trace(options.trace, present::first_frames(trace, options.traced_frames));
  if (options.gantt.empty()) return;
  write_file(
      options.gantt,
      present::gantt_svg(trace, {.title = title + ", simulated",
                                 .to = present::completion_of(trace, options.gantt_frames)}));
}

void check_outputs(const SimulateOptions& options) {
  product::FilesRead files;
  for (std::size_t i = 0; i < options.plans.size(); ++i)
    files.add_plan(options.plans[i], i < options.models.size() ? options.models[i] : "");
  for (const std::string& recorded : options.recorded) files.add("recorded trace", recorded);
  files.refuse_unwritable({options.trace, options.gantt});
}

product::SimulateRequest request_of(const SimulateOptions& options) {
  product::SimulateRequest request;
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

/// Kind of the files: several files must be plans; all else is simulated alone.
std::string_view kind_of(const SimulateOptions& options) {
  std::string_view kind = "plans";
  for (const std::string& file : options.plans)
    if (const std::string_view found = formats::kind_of_file(file); found != "plans") kind = found;
  if (kind != "plans" && options.plans.size() > 1)
    throw InputError("simulate",
                     fmt::format("found {} files, one of them of {}; simulate that alone",
                                 options.plans.size(), kind));
  return kind;
}

int simulate_deployment(const SimulateOptions& options) {
  const std::string& file = options.plans.front();
  product::FilesRead files;
  files.add_deployment(file, options.drive.script);
  files.add("releases", options.drive.releases);
  files.refuse_unwritable({options.trace, options.gantt});
  product::DriveRequest request = options.drive;
  request.deployment = file;
  request.seed = options.seed;
  request.drawn = options.times == "drawn";
  request.traced_frames = simulation_options(options).traced_frames;
  attach_terminal(request.context);
  const simulate::SimulatedDrive simulated = product::simulate_drive(request);
  write_pictures(options, simulated.drive.trace, simulated.deployment.system.name);
  show(options.json ? present::drive_json(simulated)
                    : printable_lines(present::drive_text(simulated)));
  return simulated.has_misses() ? answer_is_no : 0;
}

int simulate_plan_files(const SimulateOptions& options, const CLI::App& verb) {
  for (const char* option : {"--best", "--worst"})
    refuse_unless(options.times == "drawn", verb, option, "--times drawn");
  check_outputs(options);
  const simulate::Simulated simulated = simulate_plans(request_of(options));
  write_pictures(options, simulated.result.trace, present::names_of(simulated));
  show(options.json ? present::simulation_json(simulated)
                    : printable_lines(present::simulation_text(simulated)));
  const auto has_missed = [](const simulate::ApplicationResult& one) { return one.missed > 0; };
  return std::ranges::any_of(simulated.result.applications, has_missed) ? answer_is_no : 0;
}

int run(const SimulateOptions& options, const CLI::App& verb) {
  const std::string_view kind = kind_of(options);
  const std::string& file = options.plans.front();
  refuse_others(verb, kind);
  if (kind == "deployments") return simulate_deployment(options);
  if (kind == "plans") return simulate_plan_files(options, verb);
  if (kind == "graphs")
    return run_graph(
        {.file = file, .method = "self-timed", .json = options.json, .no_buffers = true});
  if (kind == "task systems")
    return run_tasks({.file = file,
                      .gantt = options.gantt,
                      .seed = options.seed,
                      .simulate = static_cast<int>(options.frames.value_or(1000)),
                      .json = options.json,
                      .no_growth = true});
  TilesToSimulate tiles = options.tiles;
  tiles.file = file;
  tiles.gantt = options.gantt;
  tiles.trace = options.trace;
  tiles.json = options.json;
  return simulate_tiles(tiles);
}

}  // namespace

void add_simulate(CLI::App& app, int& exit_code) {
  add_verb<SimulateOptions>(app, exit_code, {"simulate", bind, run});
}

}  // namespace millrace::cli
