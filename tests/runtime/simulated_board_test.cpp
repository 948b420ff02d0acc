#include "runtime/simulated_board.h"

#include <gtest/gtest.h>

#include "engine/reference/reference.h"
#include "runtime/compare.h"
#include "runtime/sketch.h"
#include "support/message_of.h"

namespace millrace::runtime {
namespace {

using namespace std::chrono_literals;

/// Three layers on two processors that are not here, 2 and 3 ms.
plan::Plan small_plan(const network::Network& network) {
  board::Board board;
  board.processors = {{"gpu", board::ProcessorKind::gpu, {}},
                      {"npu", board::ProcessorKind::npu, {}}};
  return plan::build(network, board, test::mapping({0, 1, 1}), {.engine = plan::simulated_engine});
}

const plan::Evidence evidence = plan::predicted({{2ms}, {3ms}});

TEST(SimulatedBoard, takes_the_predicted_times_stretched_and_of_whole_batches) {
  const auto network = test::chain(3);
  plan::Plan plan = small_plan(network);
  plan.stages[1].phases[0].batch = 4;
  RunTimes times;
  add_run_times(plan, evidence, 10, times);
  EXPECT_EQ(times, (RunTimes{{{"gpu", {LayerId(0)}}, Time(20ms)},
                             {{"npu", {LayerId(1), LayerId(2)}}, Time(120ms)}}));
}

TEST(SimulatedBoard, leaves_stages_that_are_here_alone) {
  const auto network = test::chain(3);
  plan::Plan plan = small_plan(network);
  plan.stages[1].engine = "reference";
  RunTimes times;
  add_run_times(plan, evidence, 1, times);
  EXPECT_EQ(times.size(), 1u);
  EXPECT_EQ(simulated_layers(plan), std::vector<LayerId>{LayerId(0)});
}

/// A GPU that core0 feeds for 1.5 of its 3 ms, with a stage of 2 ms beside.
TEST(SimulatedBoard, a_device_takes_its_feeding_off_the_core) {
  const auto network = test::chain(3);
  board::Board board;
  board.processors = {{"gpu", board::ProcessorKind::gpu, {}},
                      {"core0", board::ProcessorKind::cpu, {0}}};
  plan::Plan plan =
      plan::build(network, board, test::mapping({0, 1, 1}), {.engine = plan::simulated_engine});
  plan::Evidence fed = plan::predicted({{Time(3ms)}, {Time(3500us)}});
  fed.replicas[0].feeding = {Time(1500us), "core0"};
  fed.replicas[1].feeding = {Time(1500us), ""};
  const std::vector<LayerId> of_core{LayerId(1), LayerId(2)};
  RunTimes times;
  add_run_times(plan, fed, 10, times);
  EXPECT_EQ(times.at({"gpu", {LayerId(0)}}),
            (engine::simulated::RunTime(30ms, {"core0", Time(15ms)})));
  EXPECT_EQ(times.at({"core0", of_core}), engine::simulated::RunTime(20ms));
  plan.stages[1].engine = "reference";  // runs here: the core is really busy
  times.clear();
  add_run_times(plan, fed, 1, times);
  EXPECT_EQ(times.at({"gpu", {LayerId(0)}}),
            (engine::simulated::RunTime(3ms, {"core0", Time(1500us), {0}})));
  EXPECT_EQ(times.size(), 1u);
}

TEST(SimulatedBoard, needs_a_time_that_ends) {
  const auto network = test::chain(3);
  const plan::Plan plan = small_plan(network);
  RunTimes times;
  plan::Evidence known = evidence;
  const auto message = [&](double scale) {
    return test::message_of([&] { add_run_times(plan, known, scale, times); });
  };
  EXPECT_NE(message(1e8).find("stage0: a phase would take 2e+05 s, expected at most 3600 s"),
            std::string::npos)
      << message(1e8);
  known.replicas[1].phases[0] = std::nullopt;
  EXPECT_NE(message(1).find("stage1: a phase has no predicted time"), std::string::npos);
}

TEST(SimulatedBoard, computes_in_float32_what_cannot_be_computed_as_planned) {
  const auto network = test::chain(3);
  plan::Plan plan = small_plan(network);
  plan.variants = {{board::Precision::f16, {}}, {}, {board::Precision::int8, {}}};
  const auto reference = engine::reference::make();
  const ComputedHere here = computed_here(plan, network, *reference);
  EXPECT_EQ(here.replaced, (std::set{board::Precision::f16, board::Precision::int8}));
  EXPECT_EQ(here.plan.variants, std::vector<board::Variant>(3));
}

TEST(SimulatedBoard, gives_the_results_of_the_network) {
  const auto network = test::chain(3);
  const plan::Plan plan = small_plan(network);
  const auto reference = engine::reference::make();
  RunTimes times;
  add_run_times(plan, evidence, 0.1, times);
  const auto engine = make_simulated_engine(*reference, times);
  const Frames results = run_pipeline(plan, network, {{plan::simulated_engine, engine.get()}},
                                      {test::frame(network, 1), test::frame(network, 5)});
  EXPECT_EQ(results[0][0].values<float>()[0], 4);
  EXPECT_EQ(results[1][0].values<float>()[5], 8);
}

}  // namespace
}  // namespace millrace::runtime
