#include "realtime/simulate.h"

#include <gtest/gtest.h>

#include "random_system.h"

namespace millrace::realtime {
namespace {

TaskSystem three_on(SchedulingPolicy policy) {
  TaskSystem system;
  const ResourceId r = system.add_resource({"r", policy});
  const auto add = [&](const char* name, int period, int worst, int priority) {
    const FlowId flow = system.add_flow({.name = name, .events = {.period = Time(period)}});
    system.add_task(flow, {.name = name,
                           .resource = r,
                           .worst = Time(worst),
                           .best = Time(worst),
                           .priority = priority});
  };
  add("a", 20, 5, 3);
  add("b", 40, 10, 2);
  add("c", 80, 40, 1);
  return system;
}

TEST(Simulate, the_critical_instant_of_priorities_is_found) {
  const TaskSystem system = three_on(SchedulingPolicy::fixed_priority);
  const ScenarioResult result = run_scenario(system, critical_scenario(system));
  EXPECT_EQ(result.tasks, (std::vector{Time{5}, Time{15}, Time{80}}));
}

TEST(Simulate, a_queue_serves_all_alike) {
  const TaskSystem system = three_on(SchedulingPolicy::fifo);
  EXPECT_GE(simulate(system).largest.tasks[0], Time{54});
}

TEST(Simulate, nothing_to_do_is_done_at_once) {
  TaskSystem idle;
  idle.add_resource({.name = "cpu"});
  const SimulatedResponses responses = simulate(idle);
  EXPECT_TRUE(responses.largest.flows.empty());
  EXPECT_TRUE(responses.worst.empty());
}

TEST(Simulate, the_same_seed_gives_the_same_responses) {
  Random random(7);
  const TaskSystem system = random_system(random, {});
  EXPECT_EQ(simulate(system, {3, 50}).largest.tasks, simulate(system, {3, 50}).largest.tasks);
}

TEST(Simulate, jobs_that_pile_up_end_it_early_and_always_at_the_same_run) {
  TaskSystem system = three_on(SchedulingPolicy::fixed_priority);
  for (Flow& flow : system.flows) flow.events.jitter = Time(1'000'000);
  const SimulatedResponses responses = simulate(system, {.runs = 100'000});
  EXPECT_GT(responses.runs, 1);
  EXPECT_LT(responses.runs, 100'000);
  EXPECT_GT(responses.largest.tasks[2], Time(10'000));
}

TEST(Simulate, what_does_not_pile_up_is_simulated_as_often_as_asked) {
  EXPECT_EQ(simulate(three_on(SchedulingPolicy::fixed_priority), {.runs = 50}).runs, 50);
}

TEST(Simulate, a_trace_has_each_job_as_long_as_it_takes) {
  const TaskSystem system = three_on(SchedulingPolicy::fixed_priority);
  Trace trace;
  run_scenario(system, critical_scenario(system), &trace);
  Time worked{};
  for (const TraceFiring& firing : trace.firings)
    if (firing.stage == 2 && firing.frame == 0) worked += firing.end - firing.begin;
  EXPECT_EQ(worked, Time{40});
  EXPECT_FALSE(trace.frames.empty());
}

void expect_one_at_a_time(const Trace& trace) {
  for (const TraceFiring& a : trace.firings)
    for (const TraceFiring& b : trace.firings) {
      const bool is_shared =
          &a != &b && trace.stages[a.stage].processor == trace.stages[b.stage].processor;
      EXPECT_TRUE(!is_shared || a.end <= b.begin || b.end <= a.begin);
    }
}

TEST(Simulate, a_resource_does_one_thing_at_a_time) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Random random(seed);
    const TaskSystem system = random_system(random, {.utilisation = 0.7});
    Trace trace;
    run_scenario(system, critical_scenario(system, seed), &trace);
    expect_one_at_a_time(trace);
  }
}

}  // namespace
}  // namespace millrace::realtime
