// Slow and fast cores, as those of an RK3588: a plan uses each in proportion to its speed, and runs
// at the rate that its prediction and its simulation say.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>

#include "board/clusters.h"
#include "engine/reference/reference.h"
#include "engine/simulated/paced.h"
#include "explore/choose.h"
#include "plan/steps.h"
#include "runtime/load.h"
#include "runtime/simulated_board.h"
#include "runtime/sketch.h"
#include "simulate/simulate.h"
#include "support/fake_rk3588.h"

namespace millrace {
namespace {

using namespace std::chrono_literals;

#ifdef MILLRACE_SANITIZED
constexpr double least_share = 0.6;
#else
constexpr double least_share = 0.95;
#endif
constexpr double most_share = 1.05;
constexpr int attempts = 20;

constexpr std::size_t layers = 3, cores = 8, little = 4;
constexpr Time little_layer = 6ms, big_layer = 2ms;  // a third of the time

/// Three clusters: four slow cores, and two times two fast ones.
board::Board board_with_clusters() {
  const test::FakeRk3588 system;
  board::Board board;
  board.name = "unlike cores";
  std::vector<int> numbers;
  for (int core = 0; core < static_cast<int>(cores); ++core) {
    numbers.push_back(core);
    board.processors.push_back({"core" + std::to_string(core), board::ProcessorKind::cpu, {core}});
  }
  board.devices = board::devices_of_cores(
      board.processors, board::facts_of_cores(numbers, system.root()), "");
  return board;
}

profile::Profile profile_by_kind(const board::Board& board) {
  profile::Profile profile;
  for (std::size_t p = 0; p < cores; ++p) {
    profile::ProcessorProfile& each = profile.processors.emplace_back();
    each.processor = board.processors[p];
    for (std::size_t layer = 0; layer < layers; ++layer) {
      profile::LayerTimes times;
      times.together = times.alone =
          profile::statistics_of({p < little ? little_layer : big_layer});
      each.layers.push_back(times);
    }
  }
  return profile;
}

class UnlikeCores : public testing::Test {
 protected:
  const network::Network network_ = test::chain(layers);
  const board::Board board_ = board_with_clusters();

  explore::Candidate planned() const {
    explore::ChooseOptions options;
    options.genetic.population = 40;
    options.genetic.epochs = 20;
    options.build.engine = plan::simulated_engine;
    return explore::choose(network_, board_, profile_by_kind(board_), options).winner();
  }

  simulate::ApplicationResult simulated(const explore::Candidate& candidate) const {
    simulate::Application application{.name = "unlike", .plan = candidate.plan, .durations = {}};
    application.durations = simulate::predicted_durations(candidate.plan, candidate.evidence);
    application.frames = 2000;
    return simulate::run({application}).applications.front();
  }
};

TEST_F(UnlikeCores, a_copy_for_each_core_is_predicted_at_the_sum_of_their_rates) {
  ASSERT_EQ(board_.devices.size(), 3u);
  const explore::Candidate candidate = planned();
  ASSERT_TRUE(plan::is_first_free(candidate.plan));
  EXPECT_EQ(candidate.plan.stages.front().processors.size(), cores);
  EXPECT_EQ(explore::predicted_period(candidate), 1125us);  // 4 / 18 ms + 4 / 6 ms
  EXPECT_NEAR(simulated(candidate).throughput(), 1 / 1.125e-3, 0.01 / 1.125e-3);
}

TEST_F(UnlikeCores, the_simulation_gives_fast_cores_more_frames) {
  const explore::Candidate candidate = planned();
  simulate::Application application{.name = "unlike", .plan = candidate.plan, .durations = {}};
  application.durations = simulate::predicted_durations(candidate.plan, candidate.evidence);
  application.frames = 1600;
  simulate::Options options;
  options.traced_frames = 1600;
  const Trace trace = simulate::run({application}, options).trace;
  std::map<std::string, int> frames;
  for (const TraceFiring& firing : trace.firings) ++frames[trace.stages[firing.stage].processor];
  for (int core = 0; core < static_cast<int>(cores); ++core)
    EXPECT_NEAR(frames["core" + std::to_string(core)], core < 4 ? 100 : 300, 10) << core;
}

TEST_F(UnlikeCores, it_runs_as_simulated_and_results_keep_their_order) {
  constexpr double stretched = 5;  // eight threads share the cores of this machine
  const explore::Candidate candidate = planned();
  const double expected = simulated(candidate).throughput() / stretched;
  runtime::RunTimes times;
  runtime::add_run_times(candidate.plan, candidate.evidence, stretched, times);
  const auto reference = engine::reference::make();
  engine::simulated::PacedEngine engine(
      *reference, board::this_machine().processors.front(),
      [&](const engine::SubnetRequest& request) {
        return times.at({request.processor.name, request.layers});
      });
  runtime::Session session =
      runtime::deploy(candidate.plan, network_, {{plan::simulated_engine, &engine}});
  double best = 0;
  for (int i = 0; i < attempts && best < least_share * expected; ++i) {
    const runtime::Load load = runtime::run_load(session, network_, {.duration = 1s, .least = 96});
    const double rate = static_cast<double>(load.frames) / seconds(load.elapsed);
    EXPECT_LE(rate, most_share * expected);
    best = std::max(best, rate);
  }
  EXPECT_GE(best, least_share * expected);
  std::int64_t slow = 0, fast = 0;
  const auto statistics = session.statistics();
  for (std::size_t replica = 0; replica < cores; ++replica)
    (replica < little ? slow : fast) += statistics[replica].frames;
  EXPECT_NEAR(static_cast<double>(fast) / static_cast<double>(slow), 3, 0.3);
  for (int i = 0; i < 24; ++i) {
    ASSERT_TRUE(session.submit(test::frame(network_, static_cast<float>(i))));
    if (i < 8) continue;  // a frame on its way for each core
    const auto result = session.next();
    ASSERT_TRUE(result);
    EXPECT_EQ(test::value_of(result->outputs[0]), static_cast<float>(i - 8) + layers);
  }
}

}  // namespace
}  // namespace millrace
