#include "simulate/recorded.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <optional>

#include "applications.h"
#include "support/message_of.h"

namespace millrace::simulate {
namespace {

using namespace test;
using millrace::test::message_of;

constexpr std::int64_t all = 1'000'000;  // frames

/// With what the trace has, and the times that its firings took.
Application again(const Application& application, const Trace& trace) {
  Application result = application;
  result.recorded = recording_of(trace, application.plan);
  result.durations = mean_durations(result.recorded, application.plan);
  return result;
}

Application drawn(Application application) {
  for (auto& phases : application.durations)
    for (Duration& duration : phases) duration.worst = 3 * duration.best;
  application.frames = 200;
  return application;
}

/// What was drawn is recorded, so everything happens again: through a file as well.
void expect_the_same_again(const Application& application) {
  const Result first = run({application}, {.traced_frames = all});
  const auto path =
      std::filesystem::temp_directory_path() / ("millrace_recorded_" + std::to_string(::getpid()));
  write_chrome_trace(path, first.trace);
  const Trace trace = read_chrome_trace(path);
  std::filesystem::remove(path);
  const Result second = run({again(application, trace)}, {.seed = 7, .traced_frames = all});
  EXPECT_TRUE(second.trace == first.trace);
  EXPECT_EQ(second.elapsed, first.elapsed);
}

TEST(Recorded, times_give_the_same_run_again) {
  expect_the_same_again(drawn(chain({10ms, 6ms, 8ms})));
}

TEST(Recorded, times_of_batches_too) {
  expect_the_same_again(drawn(chain({3ms, 20ms}, {.capacity = 4, .batches = {1, 4}})));
}

TEST(Recorded, times_of_copies_too) {
  plan::BuildOptions options;
  options.replicas[ProcessorId(0)] = {ProcessorId(1)};
  const auto network = plan::test::network_of(1, {});
  const auto board = plan::test::board_of(2);
  expect_the_same_again(drawn(application_of(
      plan::build(network, board, plan::test::mapping_of({0}), options), {{4ms}, {7ms}})));
}

TEST(Recorded, times_of_streams_too) {
  plan::BuildOptions options;
  options.streams = {2};
  const auto network = plan::test::network_of(1, {});
  const auto board = plan::test::board_of(1);
  expect_the_same_again(drawn(application_of(
      plan::build(network, board, plan::test::mapping_of({0}), options), {{4ms}, {7ms}})));
}

TEST(Recorded, streams_without_a_turn_take_the_times_of_the_others) {
  plan::BuildOptions options;
  options.streams = {2};
  const plan::Plan plan = plan::build(plan::test::network_of(1, {}), plan::test::board_of(1),
                                      plan::test::mapping_of({0}), options);
  Trace trace = run({application_of(plan, {{4ms}, {7ms}})}, {.traced_frames = all}).trace;
  std::erase_if(trace.firings, [](const TraceFiring& firing) { return firing.stage == 0; });
  const Recording recording = recording_of(trace, plan);
  ASSERT_EQ(recording.size(), 2u);
  ASSERT_FALSE(recording[0][0].empty());
  EXPECT_EQ(recording[0][0].front().time, 7ms);
  EXPECT_EQ(recording[0][0].size(), recording[1][0].size());
}

TEST(Recorded, copies_on_other_processors_must_have_had_a_turn) {
  plan::BuildOptions options;
  options.replicas[ProcessorId(0)] = {ProcessorId(1)};
  const plan::Plan plan = plan::build(plan::test::network_of(1, {}), plan::test::board_of(2),
                                      plan::test::mapping_of({0}), options);
  Trace trace = run({application_of(plan, {{4ms}, {7ms}})}, {.traced_frames = all}).trace;
  std::erase_if(trace.firings, [](const TraceFiring& firing) { return firing.stage == 0; });
  EXPECT_TRUE(message_of([&] {
                recording_of(trace, plan);
              }).starts_with("net: the trace has no firing of stage0.0, phase 0;"));
}

TEST(Recorded, times_serve_other_releases) {
  Application application = drawn(chain({10ms, 6ms}));
  const Trace trace = run({application}, {.traced_frames = all}).trace;
  Application periodic = again(application, trace);
  periodic.release = every(100ms);
  const ApplicationResult result = run({periodic}).applications[0];
  EXPECT_GE(result.latencies.minimum(), 16ms);
  EXPECT_LE(result.latencies.maximum(), 48ms);
  EXPECT_GT(result.latencies.maximum(), result.latencies.minimum());
}

Trace trace_of(std::vector<TraceFiring> firings) {
  return {.plans = {"net"},
          .stages = {{0, "stage0", "core0"}},
          .firings = std::move(firings),
          .frames = {{0, 0, 0ms, 0ms, 5ms}, {0, 1, 0ms, 0ms, 9ms}}};
}

TEST(Recorded, firings_repeat_themselves_when_there_are_no_more) {
  Application application = chain({1ms});
  const Trace trace = trace_of({{0, 0, 0, 1, 0ms, 5ms}, {0, 0, 1, 1, 5ms, 9ms}});
  application = again(application, trace);
  application.frames = 4;
  EXPECT_EQ(application.durations[0][0], (Duration{4500us, 4500us}));
  EXPECT_EQ(run({application}).elapsed, 18ms);
}

TEST(Recorded, pieces_of_one_firing_are_added) {
  const Recording recording = recording_of(
      trace_of({{0, 0, 0, 1, 0ms, 2ms}, {0, 0, 0, 1, 4ms, 7ms}, {0, 0, 1, 1, 7ms, 8ms}}),
      chain({1ms}).plan);
  ASSERT_EQ(recording[0][0].size(), 2u);
  EXPECT_EQ(recording[0][0][0].time, 5ms);
  EXPECT_EQ(recording[0][0][1].time, 1ms);
}

TEST(Recorded, firings_of_fewer_frames_count_in_proportion) {
  Application application = chain({1ms}, {.batches = {4}});
  application = again(application, trace_of({{0, 0, 0, 2, 0ms, 6ms}}));
  EXPECT_EQ(application.durations[0][0], (Duration{12ms, 12ms}));
  application.frames = 8;
  EXPECT_EQ(run({application}).elapsed, 24ms);
}

TEST(Recorded, frames_have_the_rate_of_those_behind_the_first_round) {
  const ApplicationResult result =
      result_of(trace_of({{0, 0, 0, 1, 0ms, 5ms}, {0, 0, 1, 1, 5ms, 9ms}}), chain({1ms}).plan);
  EXPECT_EQ(result.frames, 1);
  EXPECT_EQ(result.elapsed, 4ms);
  EXPECT_EQ(result.latencies.count(), 2);
  EXPECT_EQ(result.latencies.maximum(), 9ms);
}

TEST(Recorded, frames_that_leave_several_at_once_count_in_full_rounds) {
  Trace trace = trace_of({});
  trace.frames.clear();
  for (std::int64_t f = 0; f < 11; ++f)  // four every 8 ms
    trace.frames.push_back({0, f, 0ms, 0ms, (1 + f / 4) * 8ms});
  const ApplicationResult result = result_of(trace, chain({1ms}, {.batches = {4}}).plan);
  EXPECT_EQ(result.frames, 4);
  EXPECT_EQ(result.elapsed, 8ms);
}

TEST(Recorded, traces_of_others_are_refused) {
  const plan::Plan plan = chain({1ms}).plan;
  const auto found = [&](const Trace& trace) {
    return message_of([&] { recording_of(trace, plan); });
  };
  EXPECT_TRUE(found({}).starts_with("net: the trace is not of a plan; record this plan"));
  Trace trace = trace_of({});
  EXPECT_TRUE(found(trace).starts_with("net: the trace has no firing of stage0, phase 0;"));
  trace.plans = {"other"};
  EXPECT_TRUE(found(trace).starts_with("net: the trace is of other, not of this network;"));
  trace = trace_of({{0, 3, 0, 1, 0ms, 1ms}});
  EXPECT_TRUE(
      found(trace).starts_with("net: the trace has a phase 3 of stage0, the plan has 1 phase"));
  trace = trace_of({{0, 0, 0, 1, 0ms, Time(2'000'000'000'000'000)}});
  EXPECT_TRUE(found(trace).starts_with("net: the firings of stage0 take more than twelve days"));
  trace = trace_of({{0, 0, 0, 1, 0ms, 1ms}});
  trace.stages[0].processor = "core7";
  EXPECT_TRUE(found(trace).starts_with("net: the trace has a stage0 on core7, the plan has none;"));
}

TEST(Recorded, traces_of_too_few_frames_are_refused) {
  const plan::Plan plan = chain({1ms}).plan;
  Trace trace = trace_of({{0, 0, 0, 1, 0ms, 1ms}});
  trace.frames.resize(1);
  EXPECT_TRUE(message_of([&] {
                result_of(trace, plan);
              }).starts_with("net: the trace has 1 frames, expected at least 2;"));
}

TEST(Recorded, firings_must_fit_the_plan) {
  Application application = chain({1ms, 1ms});
  application.recorded = {{{{1ms, 1}}}};
  EXPECT_EQ(message_of([&] { run({application}); }),
            "net: has other phases than its recorded trace; record this plan");
  application.recorded = {{{{1ms, 1}}}, {{}}};
  EXPECT_TRUE(message_of([&] {
                run({application});
              }).starts_with("net: the trace has a phase without firings"));
}

}  // namespace
}  // namespace millrace::simulate
