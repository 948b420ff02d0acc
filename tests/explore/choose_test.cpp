#include "explore/choose.h"

#include <gtest/gtest.h>

#include <numeric>

#include "base/error.h"
#include "base/random.h"
#include "plan/steps.h"
#include "support/network_builder.h"

namespace millrace::explore {
namespace {

network::Network chain(std::size_t layers) {
  millrace::test::NetworkBuilder builder;
  TensorId x = builder.input({1, 8});
  for (std::size_t i = 0; i < layers; ++i) x = builder.unary(network::UnaryKind::relu, x);
  builder.output(x);
  return builder.build();
}

board::Board two_cores() {
  board::Board board;
  for (int i = 0; i < 2; ++i)
    board.processors.push_back({"core" + std::to_string(i), board::ProcessorKind::cpu, {i}});
  return board;
}

/// Every layer takes the same on both cores.
profile::Profile profile_with(const std::vector<int>& microseconds, double token_ns) {
  profile::Profile profile;
  for (const board::Processor& processor : two_cores().processors) {
    profile::ProcessorProfile& p = profile.processors.emplace_back();
    p.processor = processor;
    for (const int us : microseconds) {
      profile::LayerTimes times;
      times.together = times.alone = profile::statistics_of({std::chrono::microseconds(us)});
      p.layers.push_back(times);
    }
  }
  profile.tokens = {token_ns, token_ns};
  return profile;
}

ChooseOptions quick() {
  ChooseOptions options;
  options.genetic.population = 40;
  options.genetic.epochs = 20;
  return options;
}

TEST(Choose, the_prediction_decides_where_nothing_is_measured) {
  const Choice choice = choose(chain(4), two_cores(), profile_with({10, 20, 20, 10}, 0), quick());
  EXPECT_EQ(choice.winner().plan.stages.size(), 2u);
  EXPECT_EQ(choice.winner().bound, std::chrono::microseconds(30));
  EXPECT_DOUBLE_EQ(choice.lower_bound, 30'000);
}

TEST(Choose, a_plan_carries_the_variants_of_the_processors_that_its_layers_run_on) {
  profile::Profile profile = profile_with({10, 20, 20, 10}, 0);
  EXPECT_TRUE(choose(chain(4), two_cores(), profile, quick()).winner().plan.variants.empty());
  for (std::size_t p = 0; p < 2; ++p)
    profile.processors[p].layers[2].variant.algorithm = "of core" + std::to_string(p);
  const Candidate winner = choose(chain(4), two_cores(), profile, quick()).winner();
  ASSERT_EQ(winner.plan.variants.size(), 4u);
  const std::size_t core = winner.search.mapping.processors[2].index;
  EXPECT_EQ(winner.plan.variants[2].algorithm, "of core" + std::to_string(core));
  EXPECT_EQ(winner.plan.variants[1], board::Variant{});
}

TEST(Choose, one_processor_wins_where_crossing_costs_more_than_it_gains) {
  ChooseOptions options = quick();
  options.search = "exact";
  const Choice choice = choose(chain(4), two_cores(), profile_with({1, 1, 1, 1}, 1e6), options);
  EXPECT_EQ(choice.winner().plan.stages.size(), 1u);
}

TEST(Choose, replicas_win_where_crossing_costs_more_than_it_gains) {
  const Choice choice = choose(chain(4), two_cores(), profile_with({1, 1, 1, 1}, 1e6), quick());
  EXPECT_EQ(choice.winner().name, "2 replicas");
  EXPECT_EQ(choice.winner().bound, std::chrono::microseconds(2));
  ASSERT_EQ(choice.winner().plan.stages.size(), 1u);
  EXPECT_EQ(choice.winner().plan.stages[0].replicas(), 2);
  EXPECT_GE(choice.winner().search.bottleneck, choice.lower_bound);
}

/// As if each plan took `period_of` it between two frames, and each of its stages 900 ns of one.
std::function<std::vector<plan::Measured>(std::span<const plan::Assessed>)> measuring(
    const std::function<Time(const plan::Plan&)>& period_of, double doubt = 0) {
  return [=](std::span<const plan::Assessed> plans) {
    std::vector<plan::Measured> results;
    for (const auto& [plan, evidence] : plans)
      results.push_back(
          {period_of(plan), std::vector<Time>(evidence.replicas.size(), Time(900)), doubt});
    return results;
  };
}

/// In turns they would be slower than the fast core alone, but they do not wait for their turn.
TEST(Choose, copies_are_measured_though_one_core_is_more_than_twice_as_slow) {
  profile::Profile profile = profile_with({1, 1, 1, 1}, 1e6);
  for (profile::LayerTimes& times : profile.processors[1].layers)
    times.together = times.alone = profile::statistics_of({std::chrono::nanoseconds(2200)});
  ChooseOptions options = quick();
  int copies = 0;
  options.measure = measuring([&](const plan::Plan& plan) {
    const bool is_copies = plan.stages[0].replicas() == 2;
    copies += is_copies ? 1 : 0;
    return Time(is_copies ? 2750 : 4000);
  });
  EXPECT_EQ(choose(chain(4), two_cores(), profile, options).winner().name, "2 replicas");
  EXPECT_EQ(copies, 1);
}

/// Two stages of two, where a layer is too heavy for one processor to keep up.
TEST(Choose, processors_may_take_turns_in_groups) {
  board::Board board = two_cores();
  profile::Profile profile = profile_with({10, 10, 10, 30}, 0);
  for (const char* name : {"core2", "core3"}) {
    board.processors.push_back(board.processors[0]);
    board.processors.back().name = name;
    board.processors.back().cores = {static_cast<int>(board.processors.size()) - 1};
    profile.processors.push_back(profile.processors[0]);
    profile.processors.back().processor = board.processors.back();
  }
  const Choice choice = choose(chain(4), board, profile, quick());
  const auto named = [&](const std::string& name) {
    return *std::find_if(choice.candidates.begin(), choice.candidates.end(),
                         [&](const Candidate& each) { return each.name == name; });
  };
  EXPECT_EQ(named("exact contiguous").bound, std::chrono::microseconds(30));
  EXPECT_EQ(named("2 replicas").bound, std::chrono::microseconds(15));
  EXPECT_EQ(named("2 replicas").plan.stages.size(), 2u);
  EXPECT_EQ(named("4 replicas").bound, std::chrono::microseconds(15));
  EXPECT_DOUBLE_EQ(choice.lower_bound, 15'000);
}

TEST(Choose, measurements_overrule_predictions) {
  ChooseOptions options = quick();
  options.search = "exact";
  std::size_t measured = 0;
  options.measure = measuring([&](const plan::Plan& plan) {
    ++measured;
    return plan.stages.size() == 1 ? Time(1000) : Time(2000);
  });
  // Within a quarter of the best bound, so that both are measured.
  const auto profile = profile_with({100, 1, 1, 1}, 0);
  const Choice choice = choose(chain(4), two_cores(), profile, options);
  EXPECT_EQ(measured, 2u);
  EXPECT_EQ(choice.winner().name, "one processor");
  EXPECT_EQ(choice.winner().evidence.period, Time(1000));
  EXPECT_EQ(choice.winner().evidence.replicas[0].measured, Time(900));
}

/// One processor in place of two is worth what measurements do not tell apart, up to 3 %.
TEST(Choose, what_measurements_do_not_tell_apart_is_decided_by_effort) {
  const auto winner = [](Time one, double doubt) {
    ChooseOptions options = quick();
    options.search = "exact";
    options.measure = measuring(
        [&](const plan::Plan& plan) { return plan.stages.size() == 1 ? one : Time(1000); }, doubt);
    const auto profile = profile_with({100, 1, 1, 1}, 0);
    return choose(chain(4), two_cores(), profile, options).winner().name;
  };
  EXPECT_EQ(winner(Time(1009), 0), "one processor");
  EXPECT_EQ(winner(Time(1020), 0), "exact contiguous");
  EXPECT_EQ(winner(Time(1020), 0.025), "one processor");
  EXPECT_EQ(winner(Time(1040), 0.3), "exact contiguous");
}

/// Copies do not wait for each other: on a busy machine they suffer least.
TEST(Choose, copies_are_taken_before_pipelines_that_measurements_do_not_tell_apart) {
  const auto stages = [](Time copies, double doubt) {
    ChooseOptions options = quick();
    options.measure = measuring(
        [&](const plan::Plan& plan) { return plan.stages.size() == 1 ? copies : Time(1000); },
        doubt);
    const auto profile = profile_with({10, 20, 20, 10}, 0);
    return choose(chain(4), two_cores(), profile, options).winner().plan.stages.size();
  };
  EXPECT_EQ(stages(Time(1080), 0.2), 1u);
  EXPECT_EQ(stages(Time(1080), 0.02), 2u);
  EXPECT_EQ(stages(Time(1120), 0.2), 2u);
}

TEST(Choose, what_is_predicted_to_be_far_from_the_best_is_not_measured) {
  ChooseOptions options = quick();
  options.measure = measuring([](const plan::Plan& plan) {
    EXPECT_EQ(plan::actors_in(plan), 2u);
    return Time(1000);
  });
  const Choice choice = choose(chain(4), two_cores(), profile_with({10, 10, 10, 10}, 0), options);
  EXPECT_EQ(plan::actors_in(choice.winner().plan), 2u);
}

TEST(Choose, one_processor_is_measured_if_the_others_prove_slower_than_it_is_predicted_to_be) {
  ChooseOptions options = quick();
  options.search = "exact";
  options.measure = measuring([](const plan::Plan& plan) {
    return std::chrono::microseconds(plan::actors_in(plan) == 1 ? 41 : 90);
  });
  const Choice choice = choose(chain(4), two_cores(), profile_with({10, 10, 10, 10}, 0), options);
  EXPECT_EQ(choice.winner().name, "one processor");
  EXPECT_EQ(choice.winner().evidence.period, std::chrono::microseconds(41));
}

TEST(Choose, an_unknown_search_is_answered_with_the_known_ones) {
  ChooseOptions options;
  options.search = "magic";
  EXPECT_THROW(choose(chain(1), two_cores(), profile_with({1}, 0), options), InputError);
}

TEST(PhaseTimes, of_a_stage_sum_up_to_its_processors_time) {
  Random random(3);
  const network::Network network = chain(12);
  const board::Board board = two_cores();
  const Problem problem =
      make_problem(network, board, profile_with({5, 7, 1, 9, 2, 2, 8, 3, 6, 4, 1, 5}, 100));
  for (int trial = 0; trial < 50; ++trial) {
    plan::Mapping mapping;
    for (std::size_t i = 0; i < problem.layers; ++i)
      mapping.processors.emplace_back(random.below(2));
    const plan::Plan plan = plan::build(network, board, mapping);
    const auto by_phase = phase_times(problem, plan, {&mapping, 1});
    const auto by_processor = processor_times(problem, mapping);
    for (std::size_t s = 0; s < plan.stages.size(); ++s) {
      const auto p = static_cast<std::size_t>(plan.stages[s].processors[0].cores[0]);
      const Time sum = std::accumulate(by_phase[s].begin(), by_phase[s].end(), Time{});
      EXPECT_NEAR(static_cast<double>(sum.count()), by_processor[p], 20);
    }
  }
}

TEST(PhaseTimes, of_the_core_that_feeds_a_device_have_that_too) {
  const network::Network network = chain(4);
  board::Board board = two_cores();
  Problem problem = make_problem(network, board, profile_with({4, 4, 4, 4}, 0));
  board.processors.push_back({"gpu0", board::ProcessorKind::gpu, {}});
  problem.processors = 3;
  for (auto* times : {&problem.time, &problem.alone})
    for (std::vector<double>& of_layer : *times) of_layer = {4, 4, 4};
  problem.borders = {{}, {}, {.feeding = 0.5, .is_core = false}};
  const auto times_of = [&](const std::vector<std::size_t>& genes) {
    plan::Mapping mapping;
    for (const std::size_t gene : genes) mapping.processors.emplace_back(gene);
    const plan::Plan plan = plan::build(network, board, mapping);
    const auto by_phase = phase_times(problem, plan, {&mapping, 1});
    std::vector<Time> times;
    for (std::size_t s = 0; s < plan.stages.size(); ++s)
      times.push_back(std::accumulate(by_phase[s].begin(), by_phase[s].end(), Time{}));
    return times;
  };
  EXPECT_EQ(times_of({0, 0, 1, 2}), (std::vector<Time>{Time(8), Time(6), Time(4)}));
  EXPECT_EQ(times_of({0, 0, 2, 2}), (std::vector<Time>{Time(8), Time(8)}));  // core1 has time
}

/// A GPU with a memory of its own: 1 us for a tensor and 2 ns for a number that comes or goes.
TEST(Predicted, says_what_borders_take_of_a_phase_those_of_the_network_too) {
  const network::Network network = chain(4);
  profile::Profile profile = profile_with({4, 4, 4, 4}, 0);
  board::Board board = two_cores();
  profile.processors[1].processor = board.processors[1] = {"gpu0", board::ProcessorKind::gpu, {}};
  profile.processors[1].borders =
      profile::BorderCosts{.read_ns = 2, .write_ns = 2, .border = Time(1000), .of_ends = true};
  const Problem problem = make_problem(network, board, profile);
  const Time border(1000 + 2 * 8);  // of eight numbers
  const auto evidence_of = [&](std::vector<std::size_t> genes) {
    plan::Mapping mapping;
    for (const std::size_t gene : genes) mapping.processors.emplace_back(gene);
    const plan::Plan plan = plan::build(network, board, mapping);
    double most = 0;
    for (const double time : processor_times(problem, mapping)) most = std::max(most, time);
    const plan::Evidence evidence = predicted(problem, plan, {&mapping, 1});
    Time slowest{};
    for (const plan::ReplicaEvidence& each : evidence.replicas)
      slowest = std::max(slowest, each.predicted);
    EXPECT_EQ(static_cast<double>(slowest.count()), most);  // the search knows the same
    return std::pair(plan, evidence);
  };
  const auto [alone, all] = evidence_of({1, 1, 1, 1});
  EXPECT_EQ(all.replicas[0].predicted, std::chrono::microseconds(16) + 2 * border);
  EXPECT_EQ(all.replicas[0].borders, (std::vector<plan::BorderTimes>{{border, border}}));
  const auto [split, parts] = evidence_of({0, 0, 1, 1});
  EXPECT_TRUE(parts.replicas[0].borders.empty());  // cores share their memory with the caller
  EXPECT_EQ(parts.replicas[1].borders, (std::vector<plan::BorderTimes>{{border, border}}));
  const auto notes = plan::border_notes(split, parts);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_TRUE(notes[0].starts_with("gpu0 receives tensors for " + to_text(border))) << notes[0];
}

/// A GPU, fed for half its time; four layers of 4 on each processor.
Problem fed_problem(const network::Network& network, const board::Board& board) {
  Problem problem = make_problem(network, two_cores(), profile_with({4, 4, 4, 4}, 0));
  problem.processors = 3;
  for (auto* times : {&problem.time, &problem.alone})
    for (std::vector<double>& of_layer : *times) of_layer = {4, 4, 4};
  problem.borders = {{}, {}, {.feeding = 0.5, .is_core = false, .fed_by = 0}};
  problem.names = {board.processors[0].name, board.processors[1].name, board.processors[2].name};
  return problem;
}

TEST(Predicted, says_what_feeding_takes_of_the_named_core) {
  const network::Network network = chain(4);
  board::Board board = two_cores();
  board.processors.push_back({"gpu0", board::ProcessorKind::gpu, {}});
  const Problem problem = fed_problem(network, board);
  const auto evidence_of = [&](std::vector<std::size_t> genes) {
    plan::Mapping mapping;
    for (const std::size_t gene : genes) mapping.processors.emplace_back(gene);
    const plan::Plan plan = plan::build(network, board, mapping);
    return std::pair(plan, predicted(problem, plan, {&mapping, 1}));
  };
  const auto [plan, both] = evidence_of({0, 0, 1, 2});  // core1 has less to do, core0 feeds
  EXPECT_EQ(both.replicas[0].predicted, Time(10));
  EXPECT_EQ(both.replicas[0].feeding, (plan::Feeding{Time(2), ""}));
  EXPECT_EQ(both.replicas[1].feeding, plan::Feeding{});
  EXPECT_EQ(both.replicas[2].feeding, (plan::Feeding{Time(2), "core0"}));
  EXPECT_TRUE(plan::feeding_of_idle_cores(plan, both).empty());
  EXPECT_EQ(plan::feeding_notes(plan, both),
            std::vector<std::string>{
                "core0 feeds gpu0 for 2.00 ns of each frame; core0's time includes this"});
  const auto [other, idle] = evidence_of({1, 1, 2, 2});
  EXPECT_EQ(idle.replicas[0].predicted, Time(8));
  EXPECT_EQ(plan::feeding_of_idle_cores(other, idle),
            (std::map<std::string, Time>{{"core0", Time(4)}}));
  EXPECT_EQ(plan::busy_times(other, idle).at("core0"), Time(4));
  EXPECT_EQ(plan::feeding_notes(other, idle),
            std::vector<std::string>{
                "core0 feeds gpu0 for 4.00 ns of each frame; core0 has no stage of its own"});
}

/// Its frames have all that the device launches in the time of two.
TEST(Predicted, a_replica_on_the_feeding_core_bears_all_of_the_feeding) {
  const network::Network network = chain(4);
  board::Board board = two_cores();
  board.processors.push_back({"gpu0", board::ProcessorKind::gpu, {}});
  const Problem problem = fed_problem(network, board);
  plan::BuildOptions options;
  options.replicas[ProcessorId(0)] = {ProcessorId(1)};
  std::vector<plan::Mapping> by_replica(2);
  for (const std::size_t core : {0u, 1u})
    for (const std::size_t gene : {core, core, std::size_t{2}, std::size_t{2}})
      by_replica[core].processors.emplace_back(gene);
  const plan::Plan plan = plan::build(network, board, by_replica.front(), options);
  const plan::Evidence evidence = predicted(problem, plan, by_replica);
  ASSERT_EQ(evidence.replicas.size(), 3u);
  EXPECT_EQ(evidence.replicas[0].predicted, Time(8 + 2 * 4));
  EXPECT_EQ(evidence.replicas[1].predicted, Time(8));
  EXPECT_EQ(evidence.replicas[2].predicted, Time(8));
}

}  // namespace
}  // namespace millrace::explore
