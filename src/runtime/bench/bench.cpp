#include "runtime/bench/bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>

#include "analysis/rate.h"
#include "base/error.h"
#include "base/interleaved.h"
#include "base/interrupt.h"
#include "board/clusters.h"
#include "board/energy.h"
#include "plan/steps.h"
#include "runtime/bench/energy.h"
#include "runtime/bench/roofline.h"
#include "runtime/bench/variation.h"
#include "runtime/loaded/clocks.h"
#include "runtime/loaded/simulated_stages.h"
#include "runtime/stage_times.h"
#include "runtime/waiting/repeated.h"

namespace millrace::runtime {
namespace {

constexpr std::int64_t least_frames = 3;  // of a row in a round

/// A row of the table while it is measured: plans that are kept full and paused between their
/// turns.
struct Contender {
  BenchRow row;
  std::vector<IntermittentLoad> loads;
  std::int64_t in_flight = 0;  // in each
};

/// "one core", or what else the first processor is.
std::string name_of_first(const Loaded& loaded) {
  const board::Processor& first = loaded.board.processors.front();
  return first.cores.size() == 1 ? "one core" : first.name;
}

class Bench {
 public:
  Bench(Loaded& loaded, const BenchOptions& options, const BenchSubject& subject)
      : loaded_(loaded), options_(options), subject_(subject) {
    const std::string& engine = loaded.plan.stages.front().engine;
    // The plan first, so that it finds no weights that others have packed, and then to the end.
    const bool is_plan =
        subject.is_plan || plan::actors_in(loaded.plan) > 1;
    add(is_plan ? "plan" : "model on " + name_of_first(loaded), {{loaded.plan, loaded.evidence}});
    for (const auto& [file, other] : subject.beside)
      add(file, {{other->plan, other->evidence}}, *other);
    if (options.baselines) add_baselines(engine);
    std::rotate(contenders_.begin(), contenders_.begin() + 1, contenders_.end());
    stages_ = std::make_unique<StageTrials>(loaded.plan, loaded.network,
                                                     loaded.engine_pointers());
    if (loaded.simulated.engine == nullptr) now_.emplace(loaded.plan, loaded.network, in_flight());
  }

  std::vector<BenchRow> run() {
    announce();
    const auto work = loaded_.context.begin("benchmark");
    const RoundLimits limits = round_limits();
    const Time turn = time_from_seconds(options_.duration_s / limits.most);
    for (Contender& contender : contenders_)
      run_together(contender.loads, time_from_seconds(options_.warmup_s));
    const std::vector<Contender*> order = in_order();
    double rounds = 0;
    const auto measure = [&](std::size_t which) {
      if (which == order.size()) return measure_stages(turn);
      const double share = static_cast<double>(which) / static_cast<double>(order.size());
      work->show((rounds + share) / limits.most, order[which]->row.name);
      meter_.take();
      order[which]->row.rounds.push_back(run_together(order[which]->loads, turn));
      count_energy(order[which]->row);
    };
    measure_interleaved(order.size() + 1, limits, measure, [&](int done) {
      rounds = done;
      return true;
    });
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
  std::vector<StageStatistics> plan_statistics() {
    auto stages = contenders_.back().loads.front().session().statistics();
    for (StageStatistics& stage : stages)
      for (Time* time : {&stage.busy, &stage.waiting}) *time = board_time(*time, loaded_);
    return stages;
  }
  std::string no_energy() const {
    return loaded_.simulated.engine == nullptr ? meter_.reason() : std::string();
  }
  /// Writes the trace of a turn that is not interrupted. Ends the plan's session.
  void trace() {
    if (options_.trace.file.empty()) return;
    ClockWatch watch(devices_to_watch(loaded_));
    contenders_.back().loads.front().run(time_from_seconds(options_.duration_s));
    const ClockRecord& clocks = watch.stop();
    write_trace(options_.trace, contenders_.back().loads.front().session(), loaded_, clocks);
    for (const std::string& text : low_clocks(clocks, loaded_.origin.clocks_mhz))
      loaded_.context.note(text);
  }

 private:
  static constexpr int usual_rounds = 25;

  /// How long it will take: every row, then the plan's stages together and one by one.
  void announce() const {
    const double each = options_.duration_s + options_.warmup_s;
    const double all = static_cast<double>(contenders_.size()) * each + 2 * options_.duration_s;
    loaded_.context.note(fmt::format(
        "{} rows of {:g} s and the plan's stages: about {:.0f} s{}", contenders_.size(),
        options_.duration_s, all, options_.rounds ? "" : "; up to twice that for a slow network"));
  }

  void add_baselines(const std::string& engine) {
    if (loaded_.simulated.engine != nullptr) {
      add_simulated_baselines();
      return;
    }
    const board::Board& board = loaded_.board;
    const auto on = [&](const board::Processor& processor) {
      plan::Plan plan = one_processor_plan(loaded_, processor, engine);
      plan::Evidence none = plan::no_evidence(plan);
      return plan::Assessed{std::move(plan), std::move(none)};
    };
    add(name_of_first(loaded_), {on(board.processors.front())});
    if (board.processors.size() < 2) return;
    const std::vector<board::Processor> clusters = board::joined_clusters(board);
    for (const board::Processor& cluster : clusters)
      if (clusters.size() == 1)
        add("all cores, layer by layer", {on(cluster)});
      else if (cluster.cores.size() > 1)
        add(cluster.name + ", layer by layer", {on(cluster)});
    std::vector<plan::Assessed> copies;
    for (const board::Processor& processor : board.processors)
      if (runs_all(engine, processor)) copies.push_back(on(processor));
    add("one copy per core", copies);
  }

  /// A device may refuse layers.
  bool runs_all(const std::string& engine, const board::Processor& processor) const {
    const auto runner = loaded_.engines.find(engine);
    if (runner == loaded_.engines.end()) return true;
    std::vector<LayerId> layers;
    for (std::size_t i = 0; i < loaded_.network.layers.size(); ++i) layers.emplace_back(i);
    return static_cast<bool>(runner->second->supports(loaded_.network, layers, processor));
  }

  /// Without those that would take minutes to say what the model says already.
  void add_simulated_baselines() {
    constexpr int too_slow = 10;  // times the plan's slowest stage
    Time slowest{};
    for (const plan::ReplicaEvidence& stage : loaded_.evidence.replicas)
      slowest = std::max(slowest, stage.predicted);
    for (const Baseline& baseline : subject_.simulated) {
      const Time time = baseline.assessed.evidence.replicas[0].predicted;
      if (time <= too_slow * slowest)
        add(baseline.name, {baseline.assessed});
      else
        loaded_.context.note(fmt::format("{} is left out: modelled with {} for a frame",
                                         baseline.name, millrace::to_text(time)));
    }
  }

  /// Adds that of the row's last round; the row has none if one of its rounds has none. Not of a
  /// simulated board, whose energy is not this machine's.
  void count_energy(BenchRow& row) {
    const auto joules = meter_.take();
    if (loaded_.simulated.engine != nullptr) return;
    const auto before = row.rounds.size() == 1 ? std::optional(0.0) : row.joules;
    row.joules = joules && before ? std::optional(*before + *joules) : std::nullopt;
  }

  void to_board_time(BenchRow& row) const {
    row.first = board_time(row.first, loaded_);
    for (Load& load : row.rounds) {
      load.elapsed = board_time(load.elapsed, loaded_);
      for (Time& latency : load.latencies) latency = board_time(latency, loaded_);
    }
  }

  void add(const std::string& name, const std::vector<plan::Assessed>& plans) {
    add(name, plans, loaded_);
  }
  void add(const std::string& name, const std::vector<plan::Assessed>& plans, Loaded& loaded) {
    Contender& contender = contenders_.emplace_back();
    contender.row.name = name;
    contender.in_flight = in_flight_of(options_, plans.front(), loaded.network);
    const auto start = std::chrono::steady_clock::now();
    std::vector<Session> sessions;
    for (const plan::Assessed& each : plans)
      sessions.push_back(
          deploy(loaded, each.plan, subject_.file, session_options()));
    contender.row.deployed = std::chrono::steady_clock::now() - start;
    LoadOptions load;
    load.seed = subject_.seed;
    contender.row.first = first_latency(sessions.front(), loaded.network, load.seed);
    load.least = least_frames;
    load.in_flight = contender.in_flight;
    load.between = [this] { interrupt_.check(); };
    for (Session& session : sessions)
      contender.loads.emplace_back(std::move(session), loaded.network, load);
  }

  /// The plan, which is the first to be deployed, is traced.
  SessionOptions session_options() const {
    SessionOptions options;
    if (contenders_.size() == 1) options.trace_frames = frames_of(options_.trace);
    return options;
  }

  /// In such an order that what is divided by each other is next to each other: one core, other
  /// plans, the plan, then its stages.
  std::vector<Contender*> in_order() {
    std::vector<Contender*> order;
    for (Contender& contender : contenders_) order.push_back(&contender);
    std::reverse(order.begin(), order.end() - 1);
    return order;
  }

  /// Together, beside what the plan did right before, and each by itself.
  void measure_stages(Time turn) {
    Contender& plan = contenders_.back();
    if (now_) now_->add(plan.row.rounds.back(), plan.loads[0].busy(), stages_->run_together(turn));
    std::vector<Time>& alone = alone_.emplace_back();
    const Time each = turn / static_cast<std::int64_t>(stages_->count());
    for (std::size_t s = 0; s < stages_->count(); ++s) {
      alone.push_back(board_time(stages_->run(s, each).total(), loaded_));
      interrupt_.check();
    }
  }

  /// Where so many frames take longer than a turn, the rounds end after twice the time that was
  /// asked for, unless their number was.
  RoundLimits round_limits() const {
    if (options_.rounds) return {.most = *options_.rounds};
    constexpr int least_rounds = 5;
    const std::size_t turns = contenders_.size() + (now_ ? 2 : 1);
    return {usual_rounds, least_rounds,
            time_from_seconds(2 * options_.duration_s * static_cast<double>(turns))};
  }

  Loaded& loaded_;
  const BenchOptions& options_;
  const BenchSubject& subject_;
  const InterruptGuard interrupt_{loaded_.context.interrupt};
  board::EnergyMeter meter_;
  std::unique_ptr<Repeated> sampler_ = sampler_of(meter_);
  std::vector<Contender> contenders_;
  std::unique_ptr<StageTrials> stages_;
  std::vector<std::vector<Time>> alone_;  // by round, by stage
  std::optional<MeasuredNow> now_;
};

}  // namespace

std::int64_t in_flight_of(const BenchOptions& options, const plan::Assessed& assessed,
                          const network::Network& network) {
  if (options.in_flight) return *options.in_flight;
  const auto& [plan, evidence] = assessed;
  auto times = plan::predicted_times(plan, evidence);
  if (times.empty()) times = plan::PhaseTimes(plan, std::chrono::milliseconds(1));
  return analysis::enough_in_flight(plan, network, times);
}

BenchResult bench(Loaded& loaded, const BenchOptions& options, const BenchSubject& subject) {
  BenchResult result;
  {
    Bench bench(loaded, options, subject);
    result.rows = bench.run();
    result.stages = bench.plan_statistics();
    result.alone = bench.stages_alone();
    result.now = bench.take_now();
    result.in_flight = bench.in_flight();
    result.shared = plan::is_first_free(loaded.plan);
    result.no_energy = bench.no_energy();
    bench.trace();
  }
  note_late_stages(loaded);
  std::vector<Rounds> rounds;
  for (const BenchRow& row : result.rows) rounds.push_back({row.name, rates(row)});
  note_variation(rounds, loaded.context);
  if (loaded.simulated.engine == nullptr) result.rooflines = measure_rooflines(loaded);
  return result;
}

double rate_of(const Load& load) {
  return static_cast<double>(load.frames) / seconds(load.elapsed);
}

std::vector<double> rates(const BenchRow& row) {
  std::vector<double> result;
  for (const Load& load : row.rounds) result.push_back(rate_of(load));
  std::sort(result.begin(), result.end());
  return result;
}

std::vector<Time> latencies(const BenchRow& row) {
  std::vector<Time> result;
  for (const Load& load : row.rounds)
    result.insert(result.end(), load.latencies.begin(), load.latencies.end());
  std::sort(result.begin(), result.end());
  return result;
}

}  // namespace millrace::runtime
