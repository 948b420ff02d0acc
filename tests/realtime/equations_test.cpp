// Where the printed equations are below what happens, and where they are wider than needed.
#include <gtest/gtest.h>

#include "realtime/analysis.h"
#include "realtime/simulate.h"

namespace millrace::realtime {
namespace {

struct TwoFlows {
  TaskSystem system;
  TaskId task, interferer;
};

TwoFlows two_flows(SchedulingPolicy policy, const EventModel& events, const EventModel& others) {
  TwoFlows made;
  const ResourceId resource = made.system.add_resource({"resource", policy});
  made.task = made.system.add_task(made.system.add_flow({.name = "flow", .events = events}),
                                   {.name = "task", .resource = resource});
  made.interferer = made.system.add_task(made.system.add_flow({.name = "other", .events = others}),
                                    {.name = "interferer", .resource = resource, .priority = 1});
  return made;
}

void set_times(TwoFlows& flows, std::vector<Time> task, std::vector<Time> interferer) {
  const auto set = [&](TaskId id, std::vector<Time> kernels) {
    Task& changed = flows.system.tasks[id.index];
    for (Time kernel : kernels) changed.worst += kernel;
    changed.best = changed.worst;
    changed.kernels = std::move(kernels);
  };
  set(flows.task, std::move(task));
  set(flows.interferer, std::move(interferer));
}

Time response(const TwoFlows& flows, const AnalysisOptions& options) {
  return analyse(flows.system, options).tasks[flows.task.index].response;
}

Time seen(const TwoFlows& flows) { return simulate(flows.system).largest.tasks[flows.task.index]; }

/// Lehoczky 1990: the second job of the busy window takes longest.
TEST(Equations, eq_4_1_looks_at_the_first_job_only) {
  TwoFlows flows =
      two_flows(SchedulingPolicy::fixed_priority, {.period = Time{100}}, {.period = Time{70}});
  set_times(flows, {Time{62}}, {Time{26}});
  EXPECT_EQ(response(flows, {.priorities = Equation::eq_4_1}), Time{114});
  EXPECT_EQ(response(flows, {.priorities = Equation::eq_5_3}), Time{114});
  EXPECT_GE(seen(flows), Time{116});
  EXPECT_EQ(response(flows, {}), Time{118});
}

/// Three late jobs of the interferer queue before the task's; the equation counts one.
TEST(Equations, eq_4_2_leaves_out_the_jitter_of_the_interfering_stage) {
  TwoFlows flows = two_flows(SchedulingPolicy::fifo, {.period = Time{100}},
                             {.period = Time{10}, .jitter = Time{20}});
  set_times(flows, {Time{2}}, {Time{4}});
  EXPECT_EQ(response(flows, {.queues = Equation::eq_4_2}), Time{6});
  EXPECT_EQ(response(flows, {.queues = Equation::eq_5_4}), Time{6});
  EXPECT_GE(seen(flows), Time{13});
  EXPECT_EQ(response(flows, {}), Time{14});
}

TEST(Equations, eq_4_2_leaves_out_the_jobs_of_the_stage_itself) {
  TwoFlows flows = two_flows(SchedulingPolicy::fifo_by_kernel,
                             {.period = Time{20}, .jitter = Time{20}}, {.period = Time{100}});
  set_times(flows, {Time{5}}, {Time{3}});
  EXPECT_EQ(response(flows, {.queues = Equation::eq_4_2}), Time{8});
  EXPECT_GE(seen(flows), Time{12});
  EXPECT_EQ(response(flows, {}), Time{13});
}

/// The interferer comes once in the time that the task takes, not twice.
TEST(Equations, eq_4_2_is_wider_than_needed_where_the_response_is_short) {
  TwoFlows flows =
      two_flows(SchedulingPolicy::fifo_by_kernel, {.period = Time{100}}, {.period = Time{100}});
  set_times(flows, std::vector<Time>(10, Time{1}), {Time{5}});
  EXPECT_EQ(response(flows, {.queues = Equation::eq_4_2}), Time{20});
  EXPECT_EQ(seen(flows), Time{15});
  EXPECT_EQ(response(flows, {}), Time{15});
}

/// The paper's example: seven kernels meet one of another stage each, which has three.
TEST(Equations, eq_4_2_takes_the_largest_successive_kernels) {
  TwoFlows flows =
      two_flows(SchedulingPolicy::fifo_by_kernel, {.period = Time{200}}, {.period = Time{200}});
  set_times(flows, std::vector<Time>(4, Time{1}), {Time{1}, Time{2}, Time{3}});
  EXPECT_EQ(response(flows, {.queues = Equation::eq_4_2}), Time{4 + 6 + 3});
}

}  // namespace
}  // namespace millrace::realtime
