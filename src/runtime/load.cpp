#include "runtime/load.h"

#include <algorithm>
#include <cmath>
#include <future>
#include <limits>

#include "base/interleaved.h"
#include "network/random_values.h"
#include "plan/build.h"

namespace millrace::runtime {
namespace {

using Clock = std::chrono::steady_clock;

/// Frames on their way through a session that is kept full.
class ClosedLoop {
 public:
  ClosedLoop(Session& session, const std::vector<network::Array>& inputs, std::int64_t in_flight)
      : session_(session),
        inputs_(inputs),
        at_most_(in_flight > 0 ? in_flight : std::numeric_limits<std::int64_t>::max()) {}

  /// Keeps it full until the next result, whose latency it is.
  Time step() {
    while (on_their_way_ < at_most_ && session_.submit_unless_result(inputs_)) ++on_their_way_;
    return take();
  }
  void warm_up(std::int64_t frames) {
    for (std::int64_t i = 0; i < frames; ++i) step();
  }
  void drain() {
    while (on_their_way_ > 0) take();
  }

 private:
  Time take() {
    --on_their_way_;
    return session_.next()->latency;
  }

  Session& session_;
  const std::vector<network::Array>& inputs_;
  const std::int64_t at_most_;
  std::int64_t on_their_way_ = 0;
};

/// While the pipeline fills, results are fewer than frames that a stage begins; each result leaves
/// room for at most one frame more than before.
std::int64_t warmup_of(const Session& session, const LoadOptions& options) {
  return std::max(options.warmup + 2 * session.frame_counts().largest_offset,
                  session.frame_counts().round - 1);
}

/// What the loop does from now on, in multiples of `round` frames.
Load count(ClosedLoop& loop, std::int64_t round, const LoadOptions& options) {
  Load load;
  const auto start = Clock::now();
  while (load.frames < options.least || load.frames % round != 0 ||
         Clock::now() - start < options.duration) {
    load.latencies.push_back(loop.step());
    ++load.frames;
    if (options.between) options.between();
  }
  load.elapsed = Clock::now() - start;
  return load;
}

/// What loads that ran at the same time come to: as many frames a second as all of them.
Load together(std::vector<Load> loads) {
  Load all;
  double rate = 0;  // frames per second
  for (const Load& load : loads) {
    all.frames += load.frames;
    rate += static_cast<double>(load.frames) / seconds(load.elapsed);
    all.latencies.insert(all.latencies.end(), load.latencies.begin(), load.latencies.end());
  }
  all.elapsed = time_from_seconds(static_cast<double>(all.frames) / rate);
  return all;
}

/// What the turns of a plan came to.
class Contestant {
 public:
  explicit Contestant(IntermittentLoad load) : load_(std::move(load)) {}

  void run(Time duration) {
    periods_.push_back(load_.run(duration).period());
    period_ = median(periods_);
    busy_.push_back(load_.busy());
  }
  Time period() const { return period_; }
  const std::vector<Time>& periods() const { return periods_; }
  plan::Measured measured(double doubt) const {
    plan::Measured result{period_, {}, doubt};
    for (std::size_t s = 0; s < busy_.front().size(); ++s) {
      std::vector<Time> times;
      for (const std::vector<Time>& turn : busy_) times.push_back(turn[s]);
      result.stages.push_back(median(std::move(times)));
    }
    return result;
  }

 private:
  IntermittentLoad load_;
  Time period_{};
  std::vector<Time> periods_;
  std::vector<std::vector<Time>> busy_;  // by turn and replica
};

/// Twice the standard error of the median of their ratios in the rounds that both had.
double doubt_about(const Contestant& contestant, const Contestant& fastest) {
  constexpr std::size_t enough = 3;
  constexpr double error_of_median = 1.2533 * 1.4826;  // by the median deviation, if it is normal
  const std::size_t rounds = std::min(contestant.periods().size(), fastest.periods().size());
  if (rounds < enough) return 0;
  std::vector<double> ratios, deviations;
  for (std::size_t i = 0; i < rounds; ++i)
    ratios.push_back(seconds(contestant.periods()[i]) / seconds(fastest.periods()[i]));
  const double middle = median(ratios);
  for (const double ratio : ratios) deviations.push_back(std::abs(ratio / middle - 1));
  return 2 * error_of_median * median(deviations) / std::sqrt(static_cast<double>(rounds));
}

std::vector<plan::Measured> results_of(const std::vector<Contestant>& contestants) {
  const auto fastest = std::min_element(
      contestants.begin(), contestants.end(),
      [](const Contestant& a, const Contestant& b) { return a.period() < b.period(); });
  std::vector<plan::Measured> results;
  for (const Contestant& each : contestants)
    results.push_back(each.measured(doubt_about(each, *fastest)));
  return results;
}

class PairLoad {
 public:
  PairLoad(const PairContender& plans, const PairOfNetworks& networks,
           const std::map<std::string, engine::Engine*>& engines, const LoadOptions& options)
      : first_(deploy(plans.first, networks.first, engines,
                      options_beside(plans.first, plans.second))),
        second_(deploy(plans.second, networks.second, engines,
                       options_beside(plans.second, plans.first))),
        first_inputs_(network::random_inputs(networks.first, options.seed)),
        second_inputs_(network::random_inputs(networks.second, options.seed)),
        runs_(networks.runs),
        options_(options) {
    warm_up(options.warmup + 2 * first_.frame_counts().largest_offset +
            first_.frame_counts().round);
    pause();
  }

  /// The time between two frames.
  Time run(Time duration) {
    constexpr std::int64_t least = 2;
    first_.resume();
    second_.resume();
    warm_up(2 * first_.frame_counts().round);
    const auto start = std::chrono::steady_clock::now();
    std::int64_t frames = 0;
    while (frames < least || frames % first_.frame_counts().round != 0 ||
           std::chrono::steady_clock::now() - start < duration) {
      step();
      ++frames;
      if (options_.between) options_.between();
    }
    const Time elapsed = std::chrono::steady_clock::now() - start;
    pause();
    return elapsed / frames;
  }

 private:
  void step() {
    while (first_.submit_unless_result(first_inputs_)) {
    }
    first_.next();
    for (std::int64_t i = 0; i < runs_; ++i)
      while (!second_.submit_unless_result(second_inputs_)) second_.next();
  }
  void warm_up(std::int64_t frames) {
    for (std::int64_t i = 0; i < frames; ++i) step();
  }
  void pause() {
    first_.pause();
    second_.pause();
  }

  Session first_, second_;
  const std::vector<network::Array> first_inputs_, second_inputs_;
  const std::int64_t runs_;
  const LoadOptions& options_;
};

}  // namespace

struct IntermittentLoad::State {
  State(Session deployed, const network::Network& network, LoadOptions of_all_turns)
      : session(std::move(deployed)),
        inputs(network::random_inputs(network, of_all_turns.seed)),
        options(std::move(of_all_turns)),
        loop(session, inputs, options.in_flight) {}

  Session session;
  const std::vector<network::Array> inputs;
  const LoadOptions options;
  ClosedLoop loop;
  bool is_full = false;
  std::vector<Time> busy;
};

IntermittentLoad::IntermittentLoad(Session session, const network::Network& network,
                                   LoadOptions options)
    : state_(std::make_unique<State>(std::move(session), network, std::move(options))) {}

IntermittentLoad::IntermittentLoad(IntermittentLoad&&) noexcept = default;
IntermittentLoad::~IntermittentLoad() = default;

Load IntermittentLoad::run(Time duration, std::optional<std::int64_t> least) {
  Session& session = state_->session;
  LoadOptions options = state_->options;
  options.duration = duration;
  options.least = least.value_or(options.least);
  session.resume();
  // What was done before the pause began, and those that all stages began together after it.
  const std::int64_t uneven = 2 * session.frame_counts().round;
  state_->loop.warm_up(state_->is_full ? uneven : uneven + session.frame_counts().largest_offset);
  state_->is_full = true;
  const std::vector<StageStatistics> before = session.statistics();
  Load load = count(state_->loop, session.frame_counts().round, options);
  const std::vector<StageStatistics> after = session.statistics();
  session.pause();
  state_->busy.clear();
  for (std::size_t s = 0; s < after.size(); ++s)
    state_->busy.push_back((after[s].busy - before[s].busy) /
                           std::max<std::int64_t>(1, after[s].frames - before[s].frames));
  return load;
}

const std::vector<Time>& IntermittentLoad::busy() const { return state_->busy; }
Session& IntermittentLoad::session() { return state_->session; }

Load run_together(std::span<IntermittentLoad> loads, Time duration) {
  if (loads.size() == 1) return loads.front().run(duration);
  std::vector<std::future<Load>> running;
  for (IntermittentLoad& load : loads)
    running.push_back(std::async(std::launch::async, [&, duration] { return load.run(duration); }));
  std::vector<Load> results;
  for (std::future<Load>& one : running) results.push_back(one.get());
  return together(std::move(results));
}

Time first_latency(Session& session, const network::Network& network, std::uint64_t seed) {
  session.submit(network::random_inputs(network, seed));
  return session.next()->latency;
}

Load run_load(Session& session, const network::Network& network, const LoadOptions& options) {
  const auto inputs = network::random_inputs(network, options.seed);
  ClosedLoop loop(session, inputs, options.in_flight);
  loop.warm_up(warmup_of(session, options));
  Load load = count(loop, session.frame_counts().round, options);
  loop.drain();
  return load;
}

std::vector<plan::Measured> measure(std::span<const Contender> contenders,
                                    const network::Network& network,
                                    const std::map<std::string, engine::Engine*>& engines,
                                    const LoadOptions& options) {
  constexpr int rounds = 10;
  constexpr int sure = 3;           // rounds before any plan is given up: one may be a lucky one
  constexpr double hopeless = 1.1;  // times the best so far: no noise makes up for that
  LoadOptions turn = options;
  turn.least = 2;
  std::vector<Contestant> contestants;
  for (const Contender& each : contenders) {
    if (options.between) options.between();  // to deploy one may take a second
    turn.in_flight = each.in_flight;
    contestants.emplace_back(IntermittentLoad(deploy(each.plan, network, engines), network, turn));
  }
  Time limit = Time::max();
  const auto is_left = [&](const Contestant& each) { return each.period() <= limit; };
  const auto run = [&](std::size_t which) {
    if (is_left(contestants[which])) contestants[which].run(options.duration / rounds);
  };
  const auto give_up_slow_ones = [&](int round) {
    if (round < sure) return true;
    Time best = Time::max();
    for (const Contestant& each : contestants) best = std::min(best, each.period());
    limit = time_from_seconds(hopeless * seconds(best));
    return std::count_if(contestants.begin(), contestants.end(), is_left) > 1;
  };
  const Time enough = options.duration * static_cast<std::int64_t>(contenders.size());
  measure_interleaved(contestants.size(), {rounds, sure, enough}, run, give_up_slow_ones);
  return results_of(contestants);
}

SessionOptions options_beside(const plan::Plan& plan, const plan::Plan& other,
                              SessionOptions options) {
  if (!plan::share_cores(plan, other)) return options;
  options.spin = options.spin_for_stages = std::chrono::microseconds(0);
  return options;
}

std::vector<Time> measure_pairs(std::span<const PairContender> contenders,
                                const PairOfNetworks& networks,
                                const std::map<std::string, engine::Engine*>& engines,
                                const LoadOptions& options) {
  constexpr int rounds = 10, sure = 3;
  std::vector<std::unique_ptr<PairLoad>> loads;
  for (const PairContender& each : contenders)
    loads.push_back(std::make_unique<PairLoad>(each, networks, engines, options));
  std::vector<std::vector<Time>> periods(loads.size());
  const Time enough = options.duration * static_cast<std::int64_t>(loads.size());
  measure_interleaved(
      loads.size(), {rounds, sure, enough},
      [&](std::size_t which) {
        periods[which].push_back(loads[which]->run(options.duration / rounds));
      },
      [](int) { return true; });
  std::vector<Time> medians;
  for (std::vector<Time>& each : periods) medians.push_back(median(std::move(each)));
  return medians;
}

}  // namespace millrace::runtime
