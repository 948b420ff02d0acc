#include "runtime/load.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "network/random_values.h"
#include "plan/capacities.h"
#include "plan/rate.h"

namespace millrace::runtime {
namespace {

using Clock = std::chrono::steady_clock;

/// Frames on their way, over one or several sessions in turn; all of them are kept full.
class ClosedLoop {
 public:
  ClosedLoop(const std::vector<Session*>& sessions, std::vector<network::Array> inputs,
             std::int64_t in_flight)
      : sessions_(sessions),
        inputs_(std::move(inputs)),
        at_most_(in_flight > 0 ? in_flight : std::numeric_limits<std::int64_t>::max()),
        on_their_way_(sessions.size()) {}

  /// Fills up, then takes one result.
  Time step() {
    for (std::size_t i = 0; i < sessions_.size(); ++i)
      while (on_their_way_[i] < at_most_ && sessions_[i]->try_submit(inputs_)) ++on_their_way_[i];
    return take(turn_++ % sessions_.size());
  }
  void drain() {
    for (std::size_t i = 0; i < sessions_.size(); ++i)
      while (on_their_way_[i] > 0) take(i);
  }

 private:
  Time take(std::size_t i) {
    --on_their_way_[i];
    return sessions_[i]->next()->latency;
  }

  const std::vector<Session*>& sessions_;
  std::vector<network::Array> inputs_;
  const std::int64_t at_most_;              // by session
  std::vector<std::int64_t> on_their_way_;  // by session
  std::size_t turn_ = 0;
};

/// While the pipelines fill, results are fewer than frames that a stage begins; each result leaves
/// room for at most one frame more than before.
std::int64_t warmup_of(const std::vector<Session*>& sessions, const LoadOptions& options) {
  std::int64_t frames = options.warmup;
  for (const Session* session : sessions) frames += 2 * session->largest_lag();
  return frames;
}

std::int64_t round_of(const std::vector<Session*>& sessions) {
  std::int64_t round = 1;
  for (const Session* session : sessions) round = std::max(round, session->round());
  return round == 1 ? 1 : round * static_cast<std::int64_t>(sessions.size());
}

}  // namespace

Time first_latency(Session& session, const network::Network& network, std::uint64_t seed) {
  session.submit(network::random_inputs(network, seed));
  return session.next()->latency;
}

Load run_load(const std::vector<Session*>& sessions, const network::Network& network,
              const LoadOptions& options) {
  const std::int64_t round = round_of(sessions);
  Load load;
  ClosedLoop loop(sessions, network::random_inputs(network, options.seed), options.in_flight);
  const std::int64_t warmup = std::max(warmup_of(sessions, options), round - 1);
  for (std::int64_t i = 0; i < warmup; ++i) loop.step();
  const auto start = Clock::now();
  while (load.frames < options.least || load.frames % round != 0 ||
         Clock::now() - start < options.duration) {
    load.latencies.push_back(loop.step());
    ++load.frames;
    if (options.between) options.between();
  }
  load.elapsed = Clock::now() - start;
  loop.drain();
  return load;
}

std::vector<Time> periods_of(std::span<const plan::Plan> plans, const network::Network& network,
                             const std::map<std::string, engine::Engine*>& engines,
                             const LoadOptions& options) {
  constexpr int rounds = 5;
  constexpr int sure = 3;           // rounds before any plan is given up: one may be a lucky one
  constexpr double hopeless = 1.1;  // times the best so far: no noise makes up for that
  constexpr int patience = 2;       // times the duration: frames that fill pipelines take long too
  LoadOptions once = options;
  once.duration = options.duration / rounds;
  once.least = 3;
  once.warmup = 1;
  std::vector<Session> sessions;
  std::vector<std::int64_t> in_flight;
  for (const plan::Plan& plan : plans) {
    sessions.push_back(deploy(plan, network, engines));
    in_flight.push_back(plan::enough_in_flight(plan, network, plan::predicted_times(plan)));
  }
  std::vector<std::vector<Time>> periods(plans.size());
  std::vector<Time> medians(plans.size());
  Time limit = Time::max();
  const auto start = Clock::now();
  const auto enough = patience * options.duration * static_cast<std::int64_t>(plans.size());
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < sessions.size(); ++i) {
      if (medians[i] > limit) continue;
      once.in_flight = in_flight[i];
      periods[i].push_back(run_load({&sessions[i]}, network, once).period());
      std::sort(periods[i].begin(), periods[i].end());
      medians[i] = percentile(periods[i], 0.5);
    }
    if (round + 1 < sure) continue;
    if (Clock::now() - start > enough) break;
    const Time best = *std::min_element(medians.begin(), medians.end());
    limit = time_from_seconds(hopeless * seconds(best));
    if (std::count_if(medians.begin(), medians.end(), [&](Time m) { return m <= limit; }) == 1)
      break;
  }
  return medians;
}

Time percentile(const std::vector<Time>& sorted, double share) {
  const double rank = std::ceil(share * static_cast<double>(sorted.size()));
  return sorted[static_cast<std::size_t>(std::max(rank, 1.0)) - 1];
}

}  // namespace millrace::runtime
