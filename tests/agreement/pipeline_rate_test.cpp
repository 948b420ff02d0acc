// A pipeline of layers that take a given time runs as fast as its dataflow graph allows, and never
// faster: the runtime executes that graph and adds little.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "analysis/rate.h"
#include "board/board.h"
#include "engine/simulated/simulated.h"
#include "plan/build.h"
#include "runtime/scheduling/host.h"
#include "runtime/session.h"
#include "runtime/sketch.h"

namespace millrace {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

// The least share of the bound that half of the attempts must reach. The rest is the hand-over,
// and waking the caller's threads, which share the cores with the stages.
#ifdef MILLRACE_SANITIZED
constexpr double least_share = 0.6;  // more than stages that wait for each other would reach
#else
constexpr double least_share = 0.93;
#endif
// From the first submission to the last result, the slowest stage has all frames to do: only the
// clock's jitter lets that rate exceed the bound.
constexpr double most_share = 1.01;

// Other programs, and the host of a virtual machine, may take the cores meanwhile, which can only
// make a pipeline slower. The caller's threads alone make the stages together wait for 2 to 5 % of
// the time. Attempts in which they waited longer do not count. If too few are left, the
// machine is too noisy to tell.
constexpr double most_stolen = 0.06, most_of_host = 0.02;
constexpr int attempts = 60;
constexpr std::size_t undisturbed_attempts = 5;
constexpr int warm_up = 5, frames = 16;  // whole batches

struct Example {
  network::Network network;
  std::vector<std::size_t> processors;     // by layer
  std::vector<Time> times;                 // by layer; of a run, of however many frames
  std::vector<std::int64_t> batches = {};  // by layer
};

Time time_of(const Example& example, const std::vector<LayerId>& layers) {
  Time sum{};
  for (const LayerId layer : layers) sum += example.times[layer.index];
  return sum;
}

double bound(const Example& example, const plan::Plan& plan) {
  plan::PhaseTimes times(plan);
  for (std::size_t s = 0; s < plan.stages.size(); ++s)
    for (std::size_t p = 0; p < times[s].size(); ++p)
      times[s][p] = time_of(example, plan.stages[s].phases[p].layers);
  return 1 / seconds(analysis::period_bound(plan, example.network, times).value());
}

struct Attempt {
  double rate = 0;     // results per second between the end of the warm-up and the last frame
  double overall = 0;  // frames per second from the first submission to the last result
  bool disturbed = false;
};

/// How long the stages' threads, which bear their names, were ready to run while other threads had
/// their cores: the second number of the kernel's schedstat, in nanoseconds.
Time stolen_from_stages() {
  Time stolen{};
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::int64_t running = 0, waiting = 0;
    std::ifstream(task.path() / "comm") >> name;
    std::ifstream(task.path() / "schedstat") >> running >> waiting;
    if (name.starts_with("stage")) stolen += Time(waiting);
  }
  return stolen;
}

/// Time that the host took from the plan's cores.
Time stolen_by_host(const plan::Plan& plan) {
  Time stolen{};
  for (const plan::Stage& stage : plan.stages)
    for (const board::Processor& processor : stage.processors)
      stolen += runtime::stolen_from(processor.cores);
  return stolen;
}

Attempt measure(const Example& example, const plan::Plan& plan, engine::Engine& engine) {
  runtime::Session session = runtime::deploy(plan, example.network, {{"simulated", &engine}});
  const auto filling = static_cast<int>(warm_up + 2 * session.frame_counts().largest_offset);
  const auto first = Clock::now();
  std::thread writer([&] {
    const auto input = test::frame(example.network, 1);
    for (int i = 0; i < filling + frames; ++i) session.submit(input);
  });
  for (int i = 0; i < filling; ++i) session.next();
  const Time host_before = stolen_by_host(plan), stolen_before = stolen_from_stages();
  const auto begin = Clock::now();
  for (int i = 0; i < frames; ++i) session.next();
  const Time elapsed = Clock::now() - begin;
  const Time stolen = stolen_from_stages() - stolen_before;
  writer.join();
  return {frames / seconds(elapsed), (filling + frames) / seconds(Clock::now() - first),
          seconds(stolen) > most_stolen * seconds(elapsed) || stolen_by_host(plan) > host_before};
}

void expect_agreement(const Example& example) {
  const board::Board board = board::this_machine();
  if (board.processors.size() < 2) GTEST_SKIP() << "needs two cores, this process may use one";
  const auto plan = plan::build(example.network, board, test::mapping(example.processors),
                                {.engine = "simulated", .batches = example.batches});
  const auto engine =
      engine::simulated::make([&](const network::Network&, LayerId layer, const board::Processor&) {
        return example.times[layer.index];
      });
  const double limit = bound(example, plan);
  double most = 0;
  std::vector<double> rates;  // of the undisturbed attempts
  const Time host_before = stolen_by_host(plan);
  const auto begin = Clock::now();
  for (int i = 0; i < attempts && rates.size() < undisturbed_attempts; ++i) {
    const Attempt attempt = measure(example, plan, *engine);
    most = std::max(most, attempt.overall);
    if (!attempt.disturbed) rates.push_back(attempt.rate);
  }
  EXPECT_LE(most, most_share * limit) << "frames per second";
  // It counts in steps as long as some attempts: what it took of one may show in another.
  const Time host = stolen_by_host(plan) - host_before;
  if (seconds(host) > most_of_host * seconds(Clock::now() - begin))
    GTEST_SKIP() << "the host took the cores for " << millrace::to_text(host);
  if (rates.size() < undisturbed_attempts)
    GTEST_SKIP() << "the stages had to wait for their cores in all but " << rates.size() << " of "
                 << attempts << " attempts";
  std::sort(rates.begin(), rates.end());
  EXPECT_GE(rates[rates.size() / 2], least_share * limit) << "frames per second, the median";
}

TEST(PipelineRate, of_two_balanced_stages_is_that_of_one_stage) {
  expect_agreement({test::chain(4), {0, 0, 1, 1}, {500us, 1500us, 1000us, 1000us}});
}

TEST(PipelineRate, of_two_unequal_stages_is_that_of_the_slower_one) {
  expect_agreement({test::chain(3), {0, 1, 1}, {500us, 1000us, 1500us}});
}

TEST(PipelineRate, of_a_mapping_that_goes_to_and_fro_is_that_of_its_graph) {
  expect_agreement({test::chain(5), {0, 1, 0, 1, 0}, {400us, 900us, 700us, 800us, 600us}});
}

TEST(PipelineRate, of_a_stage_that_gathers_frames_is_that_of_the_graph) {
  expect_agreement({test::chain(3), {0, 1, 1}, {600us, 800us, 2000us}, {1, 1, 4}});
}

TEST(PipelineRate, of_short_phases_beside_a_long_one_is_that_of_the_graph) {
  expect_agreement(
      {test::chain(13),
       {0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0},
       {1500us, 300us, 50us, 300us, 50us, 300us, 50us, 300us, 50us, 300us, 50us, 300us, 50us}});
}

}  // namespace
}  // namespace millrace
