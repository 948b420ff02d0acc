// millrace bench PLAN|MODEL|APPLICATION
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <memory>

#include "analysis/rate.h"
#include "api/application/load.h"
#include "api/bench/measured_now.h"
#include "api/bench/simulated_baselines.h"
#include "api/load_runnable.h"
#include "api/progress.h"
#include "api/roofline.h"
#include "api/simulated_board.h"
#include "api/trace.h"
#include "application/application_file.h"
#include "base/error.h"
#include "base/interrupt.h"
#include "board/energy.h"
#include "cli/options/between.h"
#include "cli/options/duration.h"
#include "cli/options/runnable.h"
#include "cli/print/bench_table.h"
#include "cli/print/variation.h"
#include "cli/verbs/application.h"
#include "cli/verbs/bench_slices.h"
#include "cli/verbs/verbs.h"
#include "engine/registry.h"
#include "plan/capacities.h"
#include "plan/steps.h"
#include "runtime/load.h"
#include "runtime/stage_times.h"

namespace millrace::cli {

using namespace api;

namespace {

struct BenchOptions {
  RunnableOptions runnable;
  ApplicationOptions application;
  double duration_s = 5, warmup_s = 0.5;
  std::optional<int> rounds;
  std::optional<std::int64_t> in_flight;
  std::vector<std::string> beside;
  bool baselines = true, json = false, on_request = false;
  TraceOptions trace;
  std::string svg;
};

void bind(CLI::App& verb, BenchOptions& options) {
  bind_runnable(verb, options.runnable);
  bind_application(verb, options.application);
  CLI::Option* duration =
      verb.add_option("--duration", options.duration_s, "Seconds for each row of the table")
          ->transform(in_seconds())
          ->check(between(0.01, 86400.0))
          ->capture_default_str();
  verb.add_option("--warmup", options.warmup_s, "Seconds for each row that do not count")
      ->check(between(0.0, 3600.0))
      ->capture_default_str();
  verb.add_option(
          "--in-flight", options.in_flight,
          "Frames on their way at most; 0: as many as the pipeline holds; left out: as many "
          "as keep its stages busy")
      ->check(CLI::Range(0, 1 << 20));
  CLI::Option* rounds =
      verb.add_option("--rounds", options.rounds,
                      "The rows take turns this often; the table shows medians of the rounds. Left "
                      "out: 25, or fewer of a network that takes long; of an application 5")
          ->check(CLI::Range(1, 1000));
  CLI::Option* beside =
      verb.add_option("--beside", options.beside,
                      "Another plan of the same network, as one more row (repeatable)")
          ->expected(1)
          ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  CLI::Option* no_baselines = verb.add_flag("!--no-baselines", options.baselines, "Only the plan");
  CLI::Option* json = verb.add_flag("--json", options.json, "For programs");
  CLI::Option* on_request = verb.add_flag(
      "--on-request", options.on_request,
      "Only the plan: wait for lines on standard input, each the seconds of a slice, and answer "
      "with a line of JSON; for programs that take turns");
  CLI::Option* scale = bind_time_scale(verb, options.runnable);
  CLI::Option* trace = bind_trace(verb, options.trace);
  CLI::Option* svg =
      verb.add_option("--svg", options.svg,
                      "For an application: what each technique added, as a picture in this file");
  for (CLI::Option* ignored : {duration, rounds, beside, no_baselines, json, scale, trace, svg})
    on_request->excludes(ignored);
}

constexpr std::int64_t least_frames = 3;  // of a row in a round

/// A row of the table while it is measured: plans that are kept full and paused between their
/// turns.
struct Contender {
  BenchRow row;
  std::vector<runtime::IntermittentLoad> loads;
  std::int64_t in_flight = 0;  // in each
};

/// As many as keep the plan's stages busy, or all as if they took equally long, unless told.
std::int64_t in_flight_of(const BenchOptions& options, const plan::Plan& plan,
                          const network::Network& network) {
  if (options.in_flight) return *options.in_flight;
  auto times = plan::predicted_times(plan);
  if (times.empty())
    for (const plan::Stage& stage : plan.stages)
      times.emplace_back(stage.phases.size(), std::chrono::milliseconds(1));
  return analysis::enough_in_flight(plan, network, times);
}

/// "one core", or what else the first processor is.
std::string name_of_first(const Loaded& loaded) {
  const board::Processor& first = loaded.board.processors.front();
  return first.cores.size() == 1 ? "one core" : first.name;
}

class Bench {
 public:
  Bench(Loaded& loaded, const BenchOptions& options) : loaded_(loaded), options_(options) {
    const std::string& engine = loaded.plan.stages.front().engine;
    // The plan first, so that it finds no weights that others have packed, and then to the end.
    add(is_plan_file(options.runnable.model.model) ? "plan" : "model on " + name_of_first(loaded),
        {loaded.plan});
    for (const std::string& file : options.beside) add_beside(file);
    if (options.baselines) add_baselines(engine);
    std::rotate(contenders_.begin(), contenders_.begin() + 1, contenders_.end());
    stages_ = std::make_unique<runtime::StageTrials>(loaded.plan, loaded.network,
                                                     loaded.engine_pointers());
    if (loaded.simulated.engine == nullptr) now_.emplace(loaded.plan, loaded.network, in_flight());
  }

  std::vector<BenchRow> run() {
    Progress progress("benchmark");
    const int rounds = options_.rounds.value_or(usual_rounds);
    const Time turn = time_from_seconds(options_.duration_s / rounds);
    for (Contender& contender : contenders_)
      runtime::run_together(contender.loads, time_from_seconds(options_.warmup_s));
    const auto start = std::chrono::steady_clock::now();
    for (int round = 0; round < rounds && !is_enough(round, start); ++round) {
      for (Contender* contender : turns()) {
        progress.show(static_cast<double>(round) / rounds, contender->row.name);
        meter_.take();
        contender->row.rounds.push_back(runtime::run_together(contender->loads, turn));
        count_energy(contender->row);
      }
      Contender& plan = contenders_.back();
      if (now_)
        now_->add(plan.row.rounds.back(), plan.loads[0].busy(), stages_->run_together(turn));
      std::vector<Time>& alone = alone_.emplace_back();
      for (std::size_t s = 0; s < stages_->count(); ++s) {
        const Time each = turn / static_cast<std::int64_t>(stages_->count());
        alone.push_back(board_time(stages_->run(s, each).total(), loaded_));
        interrupt_.check();
      }
    }
    std::vector<BenchRow> rows;
    for (Contender& contender : contenders_) {
      rows.push_back(std::move(contender.row));
      to_board_time(rows.back());
    }
    return rows;
  }
  std::int64_t in_flight() const { return contenders_.back().in_flight; }
  /// Nothing for a simulated board, whose times are the model's.
  std::optional<MeasuredNow> take_now() { return std::move(now_); }
  /// By round, by stage.
  const std::vector<std::vector<Time>>& stages_alone() const { return alone_; }
  std::vector<runtime::StageStatistics> plan_statistics() {
    auto stages = contenders_.back().loads.front().session().statistics();
    for (runtime::StageStatistics& stage : stages)
      for (Time* time : {&stage.busy, &stage.waiting}) *time = board_time(*time, loaded_);
    return stages;
  }
  std::string no_energy() const {
    return loaded_.simulated.engine == nullptr ? meter_.reason() : std::string();
  }
  /// Of a turn that is not interrupted. Ends the plan's session.
  void trace() {
    if (options_.trace.file.empty()) return;
    contenders_.back().loads.front().run(time_from_seconds(options_.duration_s));
    write_trace(options_.trace, contenders_.back().loads.front().session(),
                loaded_.simulated.time_scale);
  }

 private:
  static constexpr int usual_rounds = 25;

  void add_beside(const std::string& file) {
    const ModelOptions& model = options_.runnable.model;
    Loaded& other = *others_.emplace_back(
        load_plan(file, options_.runnable.network, {model.cache, options_.runnable.time_scale}));
    if (network::hash_of(other.network) != network::hash_of(loaded_.network))
      throw InputError("--beside " + file,
                       fmt::format("is a plan of {}, not of the same {} as {}", other.network.name,
                                   loaded_.network.name, model.model));
    if (loaded_.simulated.engine != nullptr || other.simulated.engine != nullptr)
      throw InputError("--beside " + file,
                       "one of the two is for a board that is not here; simulate compares such");
    add(file, {other.plan}, other);
  }

  void add_baselines(const std::string& engine) {
    if (loaded_.simulated.engine != nullptr) {
      add_simulated_baselines();
      return;
    }
    const board::Board& board = loaded_.board;
    const auto on = [&](const board::Processor& processor) {
      plan::Plan plan = one_processor_plan(loaded_.network, processor, engine);
      plan.variants = variants_on(processor, loaded_, *loaded_.engines.at(engine));
      plan.calibration = loaded_.plan.calibration;
      return plan;
    };
    add(name_of_first(loaded_), {on(board.processors.front())});
    if (board.processors.size() < 2) return;
    add("all cores, layer by layer", {on(board::all_cores(board))});
    std::vector<plan::Plan> copies;
    for (const board::Processor& processor : board.processors) copies.push_back(on(processor));
    add("one copy per core", copies);
  }

  /// Without those that would take minutes to say what the model says already.
  void add_simulated_baselines() {
    constexpr int too_slow = 10;  // times the plan's slowest stage
    Time slowest{};
    for (const plan::Stage& stage : loaded_.plan.stages)
      slowest = std::max(slowest, stage.predicted);
    for (const Baseline& baseline : simulated_baselines(loaded_)) {
      const Time time = baseline.plan.stages[0].phases[0].predicted.value();
      if (time <= too_slow * slowest)
        add(baseline.name, {baseline.plan});
      else
        note(fmt::format("{} is left out: modelled with {} for a frame", baseline.name,
                         millrace::to_text(time)));
    }
  }

  /// Not of a simulated board, whose energy is not this machine's.
  void count_energy(BenchRow& row) {
    const auto joules = meter_.take();
    if (joules && loaded_.simulated.engine == nullptr)
      row.joules = row.joules.value_or(0) + *joules;
  }

  void to_board_time(BenchRow& row) const {
    row.first = board_time(row.first, loaded_);
    for (runtime::Load& load : row.rounds) {
      load.elapsed = board_time(load.elapsed, loaded_);
      for (Time& latency : load.latencies) latency = board_time(latency, loaded_);
    }
  }

  void add(const std::string& name, const std::vector<plan::Plan>& plans) {
    add(name, plans, loaded_);
  }
  void add(const std::string& name, const std::vector<plan::Plan>& plans, Loaded& loaded) {
    Contender& contender = contenders_.emplace_back();
    contender.row.name = name;
    contender.in_flight = in_flight_of(options_, plans.front(), loaded.network);
    const auto start = std::chrono::steady_clock::now();
    std::vector<runtime::Session> sessions;
    for (const plan::Plan& plan : plans)
      sessions.push_back(deploy(loaded, plan, options_.runnable.model.model, session_options()));
    contender.row.deployed = std::chrono::steady_clock::now() - start;
    contender.row.first =
        runtime::first_latency(sessions.front(), loaded.network, options_.runnable.model.seed);
    runtime::LoadOptions load;
    load.seed = options_.runnable.model.seed;
    load.least = least_frames;
    load.in_flight = contender.in_flight;
    load.between = [this] { interrupt_.check(); };
    for (runtime::Session& session : sessions)
      contender.loads.emplace_back(std::move(session), loaded.network, load);
  }

  /// The plan, which is the first to be deployed, is traced.
  runtime::SessionOptions session_options() const {
    runtime::SessionOptions options;
    if (contenders_.size() == 1) options.trace_frames = frames_of(options_.trace);
    return options;
  }

  /// In such an order that what is divided by each other is next to each other: one core, other
  /// plans, the plan, then its stages.
  std::vector<Contender*> turns() {
    std::vector<Contender*> turns;
    for (Contender& contender : contenders_) turns.push_back(&contender);
    std::reverse(turns.begin(), turns.end() - 1);
    return turns;
  }

  /// Where so many frames take longer than a turn, the rounds end after twice the time that was
  /// asked for, unless their number was.
  bool is_enough(int round, std::chrono::steady_clock::time_point start) const {
    constexpr int least_rounds = 5;
    const std::size_t turns = contenders_.size() + (now_ ? 2 : 1);
    const double asked = options_.duration_s * static_cast<double>(turns);
    return !options_.rounds && round >= least_rounds &&
           seconds(std::chrono::steady_clock::now() - start) > 2 * asked;
  }

  const InterruptGuard interrupt_;
  Loaded& loaded_;
  const BenchOptions& options_;
  std::vector<std::unique_ptr<Loaded>> others_;
  board::EnergyMeter meter_;
  std::vector<Contender> contenders_;
  std::unique_ptr<runtime::StageTrials> stages_;
  std::vector<std::vector<Time>> alone_;  // by round, by stage
  std::optional<MeasuredNow> now_;
};

int run(const BenchOptions& options) {
  check_trace(options.trace, options.runnable);
  if (application::is_application_file(options.runnable.model.model)) {
    const char* given = !options.beside.empty()       ? "--beside"
                        : !options.trace.file.empty() ? "--trace"
                        : options.in_flight           ? "--in-flight"
                        : !options.baselines          ? "--no-baselines"
                                                      : nullptr;
    if (given != nullptr)
      throw InputError(given, "is for plans and models, not for an application; leave it out");
    return bench_application(options.runnable, options.application,
                             {options.rounds.value_or(5), options.json, options.svg});
  }
  refuse_application_options(options.application, options.runnable.model.model);
  if (!options.svg.empty())
    throw InputError("--svg " + options.svg,
                     "shows the techniques of an application (.yaml), and '" +
                         options.runnable.model.model + "' is none; leave it out");
  const auto loaded = load_runnable(options.runnable);
  if (loaded->plan.stages.empty()) {
    fmt::print("{} has no layers to run: all its outputs are inputs or constants\n",
               loaded->network.name);
    return 0;
  }
  note("inputs are random");
  note_simulation(*loaded);
  if (options.on_request) {
    SliceOptions slices;
    slices.warmup = time_from_seconds(options.warmup_s);
    slices.load.seed = options.runnable.model.seed;
    slices.load.in_flight = in_flight_of(options, loaded->plan, loaded->network);
    serve_slices(*loaded, slices, std::cin);
    return 0;
  }
  BenchResult result;
  {
    Bench bench(*loaded, options);
    result.rows = bench.run();
    result.stages = bench.plan_statistics();
    result.alone = bench.stages_alone();
    result.now = bench.take_now();
    result.in_flight = bench.in_flight();
    result.shared = plan::is_shared(loaded->plan);
    result.no_energy = bench.no_energy();
    bench.trace();
  }
  note_late_stages(*loaded);
  std::vector<Rounds> rounds;
  for (const BenchRow& row : result.rows) rounds.push_back({row.name, rates(row)});
  note_variation(rounds);
  if (loaded->simulated.engine == nullptr) result.rooflines = measure_rooflines(*loaded);
  if (options.json)
    fmt::print("{}\n", bench_json(result));
  else
    fmt::print("{}, {} rounds\n\n{}", bench_title(*loaded), result.alone.size(),
               bench_text(result));
  return 0;
}

}  // namespace

void add_bench(CLI::App& app, int& exit_code) {
  add_verb<BenchOptions>(
      app, exit_code,
      {{"bench", "Throughput and latency, beside the usual ways to use the same cores",
        "millrace bench resnet18.plan.json --duration 10"},
       bind,
       run});
}

}  // namespace millrace::cli
