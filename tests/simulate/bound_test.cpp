// With times that do not change, a plan runs exactly as fast as its own dataflow graph says.
#include <gtest/gtest.h>

#include "analysis/rate.h"
#include "applications.h"
#include "dataflow/analysis.h"
#include "plan/steps.h"
#include "plan/with_replicas.h"
#include "schedule/graph.h"
#include "simulate/simulate.h"

namespace millrace::simulate {
namespace {

using namespace plan::test;
using namespace test;

struct Case {
  network::Network network;
  plan::Plan plan;
  plan::PhaseTimes times;
};

std::vector<std::int64_t> random_batches(Random& random, std::size_t layers) {
  std::vector<std::int64_t> batches;
  while (batches.size() < layers)
    batches.insert(batches.end(), 1 + random.below(5), std::int64_t{1} << random.below(4));
  batches.resize(layers);
  return batches;
}

/// Any mapping, with random offsets, capacities, batches (in every other case) and times.
Case random_case(std::uint64_t seed) {
  Random random(seed);
  Case result{random_network(random, 25), {}, {}};
  const auto board = board_of(1 + random.below(5));
  const auto mapping =
      random_mapping(random, result.network.layers.size(), board.processors.size());
  plan::BuildOptions options{.capacity = 1 + static_cast<std::int64_t>(random.below(3)),
                             .most_offset = static_cast<std::int64_t>(random.below(10))};
  if (seed % 2 == 1) options.batches = random_batches(random, result.network.layers.size());
  result.plan = plan::build(result.network, board, mapping, options);
  const std::uint64_t longest = random.below(2) == 0 ? 20 : 1'000'000;
  result.times = random_times(random, result.plan, longest);
  return result;
}

dataflow::Fraction bound_of(const Case& each) {
  const auto rate = dataflow::throughput(
      schedule::csdf_graph(each.plan, each.network, {.phase_times = each.times}));
  return rate->period() / dataflow::Fraction(plan::round_of(each.plan));
}

dataflow::Fraction period_of(const Case& each, Order order, std::int64_t in_flight = 0) {
  Application application = application_of(each.plan, each.times);
  application.order = order;
  application.release.in_flight = in_flight;
  for (const std::int64_t frames : {3'000, 30'000}) {  // few repeat themselves late
    application.frames = frames;
    const auto result = run({application}).applications[0];
    if (result.steady) return {result.steady->span.count(), result.steady->frames};
  }
  return {-1};
}

TEST(Bound, in_the_graphs_order_any_plan_runs_exactly_at_it) {
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    const Case each = random_case(seed);
    EXPECT_EQ(period_of(each, Order::graph), bound_of(each)) << seed;
  }
}

/// More frames on their way only wait for each other.
TEST(Bound, what_keeps_all_stages_busy_is_enough_to_run_exactly_at_it) {
  for (std::uint64_t seed = 0; seed < 1000; seed += 2) {  // without batches
    const Case each = random_case(seed);
    const std::int64_t enough = analysis::enough_in_flight(each.plan, each.network, each.times);
    EXPECT_GT(enough, static_cast<std::int64_t>(each.plan.stages.size())) << seed;
    EXPECT_EQ(period_of(each, Order::submitted, enough), bound_of(each)) << seed;
  }
}

/// The runtime passes over a phase whose frame was not put in yet, and still is as fast.
TEST(Bound, in_the_runtimes_order_any_plan_without_batches_runs_exactly_at_it) {
  for (std::uint64_t seed = 0; seed < 4000; seed += 2) {
    const Case each = random_case(seed);
    EXPECT_EQ(period_of(each, Order::submitted), bound_of(each)) << seed;
  }
}

Case random_case_with_replicas(std::uint64_t seed) {
  Random random(seed);
  Case result{random_network(random, 25), {}, {}};
  const auto board = board_of(20);
  auto [mapping, options] = random_replicas(random, result.network, board, 1 + random.below(5));
  options.capacity = 1 + static_cast<std::int64_t>(random.below(3));
  result.plan = plan::build(result.network, board, mapping, options);
  result.times = random_times(random, result.plan, 1000);
  return result;
}

TEST(Bound, replicas_run_exactly_at_it_in_either_order) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    const Case each = random_case_with_replicas(seed);
    EXPECT_EQ(period_of(each, Order::graph), bound_of(each)) << seed;
    if (plan::is_first_free(each.plan) || plan::batch_of(each.plan) > 1) continue;
    EXPECT_EQ(period_of(each, Order::submitted), bound_of(each)) << seed;
  }
}

Case random_case_of_batching_copies(std::uint64_t seed, std::uint64_t longest) {
  Random random(seed);
  Case result{random_network(random, 25), {}, {}};
  const BatchingCopies copies = batching_copies(random, result.network);
  result.plan = plan::build(result.network, copies.board, copies.mapping, copies.options);
  result.times = random_times(random, result.plan, longest);
  return result;
}

TEST(Bound, copies_that_gather_run_exactly_at_it_in_the_graphs_order) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Case each = random_case_of_batching_copies(seed, 1'000);
    EXPECT_EQ(period_of(each, Order::graph), bound_of(each)) << seed;
  }
}

/// Whoever is free finds a batch, if so many frames are on their way.
TEST(Bound, copies_that_gather_reach_the_sum_of_their_rates) {
  constexpr double edges = 0.01;  // of the frames, at the beginning and the end
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Case each = random_case_of_batching_copies(seed, 1'000'000);
    for (plan::Channel& channel : each.plan.channels) channel.capacity *= 1000;
    Application application = application_of(each.plan, each.times);
    application.frames = 10'000;
    application.release.in_flight = analysis::enough_in_flight(each.plan, each.network, each.times);
    const auto shortest = analysis::shortest_period(each.plan, each.network, each.times);
    const double rate = run({application}).applications[0].throughput() * seconds(*shortest);
    EXPECT_GE(rate, 1 - edges) << seed;
    EXPECT_LE(rate, 1 + edges) << seed;
  }
}

/// Copies of the whole network do not wait for their turn, and none is faster than it is.
TEST(Bound, copies_run_between_it_and_the_sum_of_their_rates) {
  constexpr double edges = 0.005;  // of the frames, at the beginning and the end
  int seen = 0, faster = 0;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    const Case each = random_case_with_replicas(seed);
    if (!plan::is_first_free(each.plan) || plan::batch_of(each.plan) > 1) continue;
    ++seen;
    double sum = 0;
    for (const auto& phases : each.times) sum += 1 / seconds(phases.at(0));
    Application application = application_of(each.plan, each.times);
    application.frames = 5'000;
    const double rate = run({application}).applications[0].throughput();
    const double in_turns = 1e9 / bound_of(each).value();
    EXPECT_LE(rate, (1 + edges) * sum) << seed;
    EXPECT_GE(rate, (1 - edges) * in_turns) << seed;
    faster += rate > (1 + edges) * in_turns ? 1 : 0;
  }
  EXPECT_GT(seen, 10);
  EXPECT_GT(2 * faster, seen);
}

/// Results that leave in order hold up no copy if there are enough frames and slots.
TEST(Bound, what_keeps_all_copies_busy_is_enough_for_the_sum_of_their_rates) {
  constexpr double edges = 0.005;  // of the frames, at the beginning and the end
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    const std::size_t copies = 2 + random.below(4);
    const auto network = network_of(1, {});
    plan::BuildOptions options{.capacity = 1000};
    plan::PhaseTimes times;
    double sum = 0;
    for (std::size_t i = 0; i < copies; ++i) {
      if (i > 0) options.replicas[ProcessorId(0)].emplace_back(i);
      times.add({Time(100 + static_cast<std::int64_t>(random.below(1000)))});
      sum += 1 / seconds(times[i][0]);
    }
    const auto plan = plan::build(network, board_of(copies), mapping_of({0}), options);
    Application application = application_of(plan, times);
    application.frames = 5'000;
    application.release.in_flight = analysis::enough_in_flight(plan, network, times);
    EXPECT_GE(run({application}).applications[0].throughput(), (1 - edges) * sum) << seed;
  }
}

/// Whatever the order, batches and arrivals: no plan that has passed its check stands still, and
/// none works more than its processors can.
TEST(Bound, any_plan_completes_all_frames_however_they_come) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    const Case each = random_case(seed);
    Application application = application_of(each.plan, each.times);
    const Time period = Time(1 + static_cast<std::int64_t>(bound_of(each).value()));
    for (const Release& release :
         {Release{}, Release{.in_flight = 1}, every(period), every(100 * period),
          Release{.arrivals = Arrivals::poisson, .period = period}}) {
      application.release = release;
      const Result result = run({application});
      EXPECT_GE(result.applications[0].frames, application.frames);
      for (const ProcessorResult& processor : result.processors)
        EXPECT_LE(processor.busy, result.elapsed);
    }
  }
}

/// Not of a few frames only: what is measured over many is what recurs.
TEST(Bound, a_long_run_is_as_fast_as_what_recurs) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const Case each = random_case(seed);
    Application application = application_of(each.plan, each.times);
    application.order = Order::graph;
    application.frames = 20'000;
    const auto result = run({application}).applications[0];
    const double bound = 1e9 / bound_of(each).value();
    EXPECT_NEAR(result.throughput() / bound, 1, 2e-3) << seed;
  }
}

}  // namespace
}  // namespace millrace::simulate
