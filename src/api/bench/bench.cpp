#include "api/bench/bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>

#include "analysis/rate.h"
#include "api/bench/energy.h"
#include "api/bench/roofline.h"
#include "api/bench/simulated_baselines.h"
#include "api/bench/summary.h"
#include "api/bench/variation.h"
#include "api/clocks.h"
#include "api/simulated_board.h"
#include "base/error.h"
#include "base/interleaved.h"
#include "base/interrupt.h"
#include "board/clusters.h"
#include "board/energy.h"
#include "plan/steps.h"
#include "runtime/stage_times.h"
#include "runtime/waiting/repeated.h"

namespace millrace::api {
namespace {

constexpr std::int64_t least_frames = 3;  // of a row in a round

/// A row of the table while it is measured: plans that are kept full and paused between their
/// turns.
struct Contender {
  BenchRow row;
  std::vector<runtime::IntermittentLoad> loads;
  std::int64_t in_flight = 0;  // in each
};

/// "one core", or what else the first processor is.
std::string name_of_first(const Loaded& loaded) {
  const board::Processor& first = loaded.board.processors.front();
  return first.cores.size() == 1 ? "one core" : first.name;
}

class Bench {
 public:
  Bench(Loaded& loaded, const BenchRequest& request) : loaded_(loaded), request_(request) {
    const std::string& engine = loaded.plan.stages.front().engine;
    // The plan first, so that it finds no weights that others have packed, and then to the end.
    const bool is_plan = is_plan_file(request.runnable.model.source.file);
    add(is_plan ? "plan" : "model on " + name_of_first(loaded), {{loaded.plan, loaded.evidence}});
    for (const std::string& file : request.beside) add_beside(file);
    if (request.baselines) add_baselines(engine);
    std::rotate(contenders_.begin(), contenders_.begin() + 1, contenders_.end());
    stages_ = std::make_unique<runtime::StageTrials>(loaded.plan, loaded.network,
                                                     loaded.engine_pointers());
    if (loaded.simulated.engine == nullptr) now_.emplace(loaded.plan, loaded.network, in_flight());
  }

  std::vector<BenchRow> run() {
    announce();
    const auto work = loaded_.context.begin("benchmark");
    const RoundLimits limits = round_limits();
    const Time turn = time_from_seconds(request_.duration_s / limits.most);
    for (Contender& contender : contenders_)
      runtime::run_together(contender.loads, time_from_seconds(request_.warmup_s));
    const std::vector<Contender*> order = in_order();
    double rounds = 0;
    const auto measure = [&](std::size_t which) {
      if (which == order.size()) return measure_stages(turn);
      const double share = static_cast<double>(which) / static_cast<double>(order.size());
      work->show((rounds + share) / limits.most, order[which]->row.name);
      meter_.take();
      order[which]->row.rounds.push_back(runtime::run_together(order[which]->loads, turn));
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
    if (request_.trace.file.empty()) return;
    runtime::ClockWatch watch(devices_to_watch(loaded_));
    contenders_.back().loads.front().run(time_from_seconds(request_.duration_s));
    const runtime::ClockRecord& clocks = watch.stop();
    write_trace(request_.trace, contenders_.back().loads.front().session(), loaded_, clocks);
    for (const std::string& text : low_clocks(clocks, loaded_.origin.clocks_mhz))
      loaded_.context.note(text);
  }

 private:
  static constexpr int usual_rounds = 25;

  /// How long it will take: every row, then the plan's stages together and one by one.
  void announce() const {
    const double each = request_.duration_s + request_.warmup_s;
    const double all = static_cast<double>(contenders_.size()) * each + 2 * request_.duration_s;
    loaded_.context.note(fmt::format(
        "{} rows of {:g} s and the plan's stages: about {:.0f} s{}", contenders_.size(),
        request_.duration_s, all, request_.rounds ? "" : "; up to twice that for a slow network"));
  }

  void add_beside(const std::string& file) {
    const RunnableOptions& runnable = request_.runnable;
    Loaded& other = *others_.emplace_back(
        load_plan(file, runnable.network, {runnable.model.context, runnable.time_scale}));
    if (network::hash_of(other.network) != network::hash_of(loaded_.network))
      throw InputError("--beside " + file,
                       fmt::format("is a plan of {}, not of the same {} as {}", other.network.name,
                                   loaded_.network.name, runnable.model.source.file));
    if (loaded_.simulated.engine != nullptr || other.simulated.engine != nullptr)
      throw InputError("--beside " + file,
                       "one of the two plans is for a board that is not this machine; compare them "
                       "with `millrace simulate`");
    add(file, {{other.plan, other.evidence}}, other);
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
    for (const board::Processor& processor : board.processors) copies.push_back(on(processor));
    add("one copy per core", copies);
  }

  /// Without those that would take minutes to say what the model says already.
  void add_simulated_baselines() {
    constexpr int too_slow = 10;  // times the plan's slowest stage
    Time slowest{};
    for (const plan::ReplicaEvidence& stage : loaded_.evidence.replicas)
      slowest = std::max(slowest, stage.predicted);
    for (const Baseline& baseline : simulated_baselines(loaded_)) {
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
    for (runtime::Load& load : row.rounds) {
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
    contender.in_flight = in_flight_of(request_, plans.front(), loaded.network);
    const auto start = std::chrono::steady_clock::now();
    std::vector<runtime::Session> sessions;
    for (const plan::Assessed& each : plans)
      sessions.push_back(
          deploy(loaded, each.plan, request_.runnable.model.source.file, session_options()));
    contender.row.deployed = std::chrono::steady_clock::now() - start;
    runtime::LoadOptions load;
    load.seed = request_.runnable.model.source.seed;
    contender.row.first = runtime::first_latency(sessions.front(), loaded.network, load.seed);
    load.least = least_frames;
    load.in_flight = contender.in_flight;
    load.between = [this] { interrupt_.check(); };
    for (runtime::Session& session : sessions)
      contender.loads.emplace_back(std::move(session), loaded.network, load);
  }

  /// The plan, which is the first to be deployed, is traced.
  runtime::SessionOptions session_options() const {
    runtime::SessionOptions options;
    if (contenders_.size() == 1) options.trace_frames = frames_of(request_.trace);
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
    if (request_.rounds) return {.most = *request_.rounds};
    constexpr int least_rounds = 5;
    const std::size_t turns = contenders_.size() + (now_ ? 2 : 1);
    return {usual_rounds, least_rounds,
            time_from_seconds(2 * request_.duration_s * static_cast<double>(turns))};
  }

  Loaded& loaded_;
  const BenchRequest& request_;
  const InterruptGuard interrupt_{loaded_.context.interrupt};
  std::vector<std::unique_ptr<Loaded>> others_;
  board::EnergyMeter meter_;
  std::unique_ptr<runtime::Repeated> sampler_ = sampler_of(meter_);
  std::vector<Contender> contenders_;
  std::unique_ptr<runtime::StageTrials> stages_;
  std::vector<std::vector<Time>> alone_;  // by round, by stage
  std::optional<MeasuredNow> now_;
};

}  // namespace

std::int64_t in_flight_of(const BenchRequest& request, const plan::Assessed& assessed,
                          const network::Network& network) {
  if (request.in_flight) return *request.in_flight;
  const auto& [plan, evidence] = assessed;
  auto times = plan::predicted_times(plan, evidence);
  if (times.empty()) times = plan::PhaseTimes(plan, std::chrono::milliseconds(1));
  return analysis::enough_in_flight(plan, network, times);
}

namespace {

/// By how long the plan's stages worked, at the rate of the rounds.
std::vector<board::DeviceEnergy> energy_of(const BenchResult& result, const Loaded& loaded) {
  const auto board = board_of(loaded.origin);
  const double rate = median_rate(result.rows.back());
  if (!board || rate <= 0) return {};
  std::vector<board::BusyProcessor> busy;
  const schedule::Schedule schedule = schedule::compile(loaded.plan);
  for (std::size_t s = 0; s < std::min(result.stages.size(), schedule.actors.size()); ++s)
    busy.push_back({schedule.actors[s].processor, busy_share(result, s, rate) / rate});
  return board::energy_per_frame(*board, busy, 1 / rate);
}

}  // namespace

BenchResult bench(Loaded& loaded, const BenchRequest& request) {
  BenchResult result;
  {
    Bench bench(loaded, request);
    result.rows = bench.run();
    result.stages = bench.plan_statistics();
    result.alone = bench.stages_alone();
    result.now = bench.take_now();
    result.in_flight = bench.in_flight();
    result.shared = plan::is_first_free(loaded.plan);
    result.no_energy = bench.no_energy();
    bench.trace();
  }
  if (loaded.simulated.engine != nullptr) result.energy = energy_of(result, loaded);
  note_late_stages(loaded);
  std::vector<Rounds> rounds;
  for (const BenchRow& row : result.rows) rounds.push_back({row.name, rates(row)});
  note_variation(rounds, loaded.context);
  if (loaded.simulated.engine == nullptr) result.rooflines = measure_rooflines(loaded);
  return result;
}

std::vector<double> rates(const BenchRow& row) {
  std::vector<double> result;
  for (const runtime::Load& load : row.rounds) result.push_back(rate_of(load));
  std::sort(result.begin(), result.end());
  return result;
}

std::vector<Time> latencies(const BenchRow& row) {
  std::vector<Time> result;
  for (const runtime::Load& load : row.rounds)
    result.insert(result.end(), load.latencies.begin(), load.latencies.end());
  std::sort(result.begin(), result.end());
  return result;
}

}  // namespace millrace::api
