#include "realtime/analysis.h"

#include <gtest/gtest.h>

#include <string>

#include "base/error.h"
#include "realtime/answers.h"
#include "realtime/simulate.h"

namespace millrace::realtime {
namespace {

FlowId add_flow(TaskSystem& system, const char* name, EventModel events) {
  return system.add_flow({.name = name, .events = events});
}

/// T11 and T12 of one resource pass their activations on to T21 and T22 of another.
TEST(Analysis, finishes_of_a_busy_window_are_those_of_pycpa) {
  TaskSystem system;
  const ResourceId r1 = system.add_resource({"r1"}), r2 = system.add_resource({"r2"});
  const FlowId s1 = add_flow(system, "s1", {.period = Time{30}, .jitter = Time{5}});
  const FlowId s2 = add_flow(system, "s2", {.period = Time{15}, .jitter = Time{6}});
  const TaskId t11 = system.add_task(
      s1, {.name = "t11", .resource = r1, .worst = Time{10}, .best = Time{5}, .priority = 2});
  system.add_task(s1, {.name = "t21",
                       .resource = r2,
                       .worst = Time{2},
                       .best = Time{2},
                       .after = {t11},
                       .priority = 2});
  const TaskId t12 = system.add_task(
      s2, {.name = "t12", .resource = r1, .worst = Time{3}, .best = Time{1}, .priority = 1});
  const TaskId t22 = system.add_task(s2, {.name = "t22",
                                          .resource = r2,
                                          .worst = Time{9},
                                          .best = Time{4},
                                          .after = {t12},
                                          .priority = 1});
  const Bounds bounds = analyse(system);
  EXPECT_EQ(bounds.tasks[t12.index].finishes, (std::vector{Time{13}, Time{16}}));
  EXPECT_EQ(bounds.tasks[t22.index].finishes,
            (std::vector{Time{11}, Time{20}, Time{31}, Time{40}}));
  EXPECT_EQ(bounds.flows[s2.index].path_sum, Time{32});
  EXPECT_LE(bounds.flows[s2.index].response, bounds.flows[s2.index].path_sum);
}

/// Adds a task of the chain's priority after its last one.
void prolong(TaskSystem& system, FlowId flow, Task task) {
  if (!system[flow].tasks.empty()) task.after = {system[flow].tasks.back()};
  task.name = system[flow].name + std::to_string(system.tasks.size());
  system.add_task(flow, task);
}

Task task_of(ResourceId resource, std::int64_t worst, std::int64_t priority) {
  return {.name = "",
          .resource = resource,
          .worst = Time{worst},
          .best = Time{1},
          .priority = priority};
}

/// What delays several tasks of a chain delays the chain once: 3 + 4 + 2 + 4.
TEST(Analysis, a_chain_on_one_resource_is_delayed_once) {
  TaskSystem system;
  const ResourceId core = system.add_resource({"core"});
  const FlowId chain = add_flow(system, "chain", {.period = Time{20}});
  const FlowId other = add_flow(system, "other", {.period = Time{15}});
  for (const int work : {3, 4, 2})
    prolong(system, chain, task_of(core, work, 1));
  prolong(system, other, task_of(core, 4, 2));
  EXPECT_EQ(analyse(system).flows[chain.index].response, Time{13});
}

/// Neither bound lies above the work of all: 3 flows of 4 tasks of 2 on two resources, to and fro.
TEST(Analysis, no_response_exceeds_the_work_of_all_flows) {
  TaskSystem system;
  const ResourceId left = system.add_resource({"left"}), right = system.add_resource({"right"});
  for (const int priority : {3, 2, 1}) {
    const std::string name = "flow" + std::to_string(priority) + "_";
    const FlowId flow = add_flow(system, name.c_str(), {.period = Time{100}});
    for (const ResourceId resource : {left, right, left, right})
      prolong(system, flow, task_of(resource, 2, priority));
  }
  for (const FlowBound& bound : analyse(system).flows) EXPECT_LE(bound.response, Time{24});
}

/// The event comes late, so that t92 follows t77 at once, behind jobs of the other flow that t77
/// held up, and t77 of the next event comes before t92 ends: 77 + 92 + 77 + 2 * 16 - 77.
TEST(Analysis, work_that_is_done_before_a_job_need_not_be_ready_with_it) {
  TaskSystem system;
  const ResourceId r = system.add_resource({"r"});
  const auto add = [&](FlowId flow, std::int64_t time, std::int64_t priority, Time offset) {
    const auto before = system[flow].tasks;
    Task task{
        .name = "t" + std::to_string(time), .resource = r, .worst = Time{time}, .best = Time{time}};
    if (!before.empty()) task.after = {before.back()};
    task.priority = priority;
    task.offset = offset;
    return system.add_task(flow, task);
  };
  const FlowId late = add_flow(system, "late", {.period = Time{800}, .jitter = Time{616}});
  add(late, 77, 14, {});
  const TaskId task = add(late, 92, 7, Time{381});
  const FlowId often = add_flow(system, "often", {.period = Time{200}});
  add(often, 3, 9, {});
  add(often, 5, 15, {});
  add(often, 8, 8, {});
  const SimulatedResponses seen = simulate(system, {1009564, 30});
  EXPECT_EQ(seen.largest.tasks[task.index], Time{201});
  EXPECT_EQ(analyse(system).tasks[task.index].response, Time{201});
}

/// A flow whose tasks are activated later and later has no bound; others keep theirs.
TEST(Analysis, a_flow_beyond_the_horizon_takes_no_bound_from_others) {
  TaskSystem system;
  const FlowId late = add_flow(system, "late", {.period = Time{1000}});
  for (int i = 0; i < 30; ++i) {
    const ResourceId own = system.add_resource({"r" + std::to_string(i)});
    Task task{.name = "late" + std::to_string(i), .resource = own, .worst = Time{900}};
    if (i > 0) task.after = {system[late].tasks.back()};
    system.add_task(late, task);
  }
  const ResourceId shared = system.add_resource({"shared"});
  const auto add_alone = [&](const char* name, std::int64_t time, std::int64_t priority) {
    return system.add_task(add_flow(system, name, {.period = Time{50}}), {.name = name,
                                                                          .resource = shared,
                                                                          .worst = Time{time},
                                                                          .best = Time{time},
                                                                          .priority = priority});
  };
  const TaskId first = add_alone("first", 5, 3), last = add_alone("last", 7, 1);
  system.add_task(late, {.name = "late_last",
                         .resource = shared,
                         .worst = Time{9},
                         .after = {system[late].tasks.back()},
                         .priority = 2});
  const Bounds bounds = analyse(system);
  EXPECT_EQ(bounds.tasks[first.index].response, Time{5});
  EXPECT_EQ(bounds.flows[late.index].response, unbounded);
  EXPECT_EQ(bounds.tasks[last.index].response, unbounded);  // behind a task without bound
  EXPECT_FALSE(bounds.unsettled.empty());
}

/// A processor that is just full has no bound, but nothing grows round and round.
TEST(Analysis, a_full_processor_is_no_circle) {
  TaskSystem system;
  const FlowId flow = add_flow(system, "flow", {.period = Time{10}, .jitter = Time{1}});
  const TaskId first = system.add_task(
      flow, {.name = "a1", .resource = system.add_resource({"r1"}), .worst = Time{10}});
  system.add_task(
      flow,
      {.name = "a2", .resource = system.add_resource({"r2"}), .worst = Time{1}, .after = {first}});
  const Bounds bounds = analyse(system);
  EXPECT_EQ(bounds.flows[flow.index].response, unbounded);
  EXPECT_TRUE(bounds.unsettled.empty());
}

/// More than there is time for: what has no end is counted on with in later rounds.
TEST(Analysis, a_flow_that_meets_itself_without_end_stays_without_bound) {
  TaskSystem system;
  const ResourceId r = system.add_resource({"r"});
  const FlowId flow = add_flow(system, "flow", {.period = Time{10}, .jitter = Time{5}});
  const TaskId first =
      system.add_task(flow, {.name = "a", .resource = r, .worst = Time{6}, .priority = 2});
  const TaskId second = system.add_task(
      flow, {.name = "b", .resource = r, .worst = Time{6}, .after = {first}, .priority = 1});
  const Bounds bounds = analyse(system);
  EXPECT_EQ(bounds.tasks[first.index].response, Time{7});
  EXPECT_EQ(bounds.tasks[second.index].response, unbounded);
  EXPECT_EQ(bounds.flows[flow.index].response, unbounded);
}

/// Two chained tasks on one resource; three activations at once.
TEST(Analysis, a_burst_passes_through_two_tasks_of_one_resource) {
  TaskSystem system;
  const ResourceId r = system.add_resource({"r"});
  const FlowId flow = add_flow(system, "flow", {.period = Time{30}, .jitter = Time{60}});
  const TaskId first = system.add_task(
      flow, {.name = "t11", .resource = r, .worst = Time{5}, .best = Time{5}, .priority = 2});
  const TaskId second = system.add_task(flow, {.name = "t12",
                                               .resource = r,
                                               .worst = Time{9},
                                               .best = Time{1},
                                               .after = {first},
                                               .priority = 1});
  const Bounds independent = analyse(system, {.precedence = false});
  EXPECT_EQ(independent.tasks[first.index].response, Time{15});
  EXPECT_EQ(independent.tasks[second.index].response, Time{37});
  const Bounds bounds = analyse(system);
  EXPECT_LE(bounds.tasks[second.index].response, Time{37});
  EXPECT_GE(bounds.flows[0].response, simulate(system).largest.flows[0]);
}

TEST(Analysis, a_table_gives_each_task_its_slots_only) {
  TaskSystem system;
  const ResourceId r1 = system.add_resource({"r1", SchedulingPolicy::table});
  const ResourceId r2 = system.add_resource({"r2", SchedulingPolicy::table});
  const FlowId f1 = add_flow(system, "f1", {.period = Time{30}, .jitter = Time{5}});
  const FlowId f2 = add_flow(system, "f2", {.period = Time{15}, .jitter = Time{6}});
  const TaskId t11 =
      system.add_task(f1, {.name = "t11", .resource = r1, .worst = Time{10}, .best = Time{5}});
  const TaskId t12 =
      system.add_task(f2, {.name = "t12", .resource = r1, .worst = Time{3}, .best = Time{1}});
  const TaskId t21 = system.add_task(
      f1, {.name = "t21", .resource = r2, .worst = Time{2}, .best = Time{2}, .after = {t11}});
  const TaskId t22 = system.add_task(
      f2, {.name = "t22", .resource = r2, .worst = Time{3}, .best = Time{3}, .after = {t12}});
  system.resources[r1.index].table = {{t11, Time{2}}, {t12, Time{2}}};
  system.resources[r2.index].table = {{t21, Time{2}}, {t22, Time{2}}};
  const Bounds bounds = analyse(system);
  EXPECT_EQ(bounds.tasks[t11.index].response, Time{20});
  EXPECT_EQ(bounds.tasks[t12.index].response, Time{7});
  EXPECT_EQ(bounds.tasks[t21.index].response, Time{4});
  EXPECT_EQ(bounds.tasks[t22.index].response, Time{9});
}

/// Round robin in steps of one, with bursts: the resources depend on each other.
TEST(Analysis, queues_by_kernel_settle_in_a_circle_of_resources) {
  TaskSystem system;
  const ResourceId r1 = system.add_resource({"r1", SchedulingPolicy::fifo_by_kernel});
  const ResourceId r2 = system.add_resource({"r2", SchedulingPolicy::fifo_by_kernel});
  const FlowId f1 = add_flow(system, "f1", {.period = Time{5}, .min_distance = Time{1}});
  const FlowId f2 = add_flow(
      system, "f2",
      {.period = Time{17}, .min_distance = Time{1}, .burst = 5, .burst_distance = Time{1}});
  const auto task = [&](const char* name, ResourceId on, std::vector<TaskId> after) {
    return Task{
        .name = name, .resource = on, .worst = Time{1}, .best = Time{1}, .after = std::move(after)};
  };
  const TaskId t11 = system.add_task(f1, task("t11", r1, {}));
  const TaskId t21 = system.add_task(f1, task("t21", r2, {t11}));
  const TaskId t22 = system.add_task(f2, task("t22", r2, {}));
  const TaskId t12 = system.add_task(f2, task("t12", r1, {t22}));
  const Bounds bounds = analyse(system);
  EXPECT_EQ(bounds.tasks[t11.index].response, Time{2});
  EXPECT_EQ(bounds.tasks[t21.index].response, Time{2});
  EXPECT_EQ(bounds.tasks[t22.index].response, Time{3});
  EXPECT_EQ(bounds.tasks[t12.index].response, Time{3});
}

/// Two long jobs whose priorities cross: each makes the other's next task later.
TaskSystem crossed(Time worst) {
  TaskSystem system;
  const ResourceId a = system.add_resource({"a"}), b = system.add_resource({"b"});
  const FlowId f1 = add_flow(system, "f1", {.period = Time{100}});
  const FlowId f2 = add_flow(system, "f2", {.period = Time{100}});
  const TaskId f1a = system.add_task(f1, {.name = "f1a", .resource = a, .worst = worst});
  system.add_task(f1,
                  {.name = "f1b", .resource = b, .worst = worst, .after = {f1a}, .priority = 1});
  const TaskId f2b = system.add_task(f2, {.name = "f2b", .resource = b, .worst = worst});
  system.add_task(f2,
                  {.name = "f2a", .resource = a, .worst = worst, .after = {f2b}, .priority = 1});
  return system;
}

TEST(Analysis, a_circle_that_does_not_settle_is_named) {
  const Bounds settled = analyse(crossed(Time{20}));
  EXPECT_TRUE(settled.unsettled.empty());
  const TaskSystem system = crossed(Time{49});
  const Bounds bounds = analyse(system);
  ASSERT_FALSE(bounds.unsettled.empty());
  EXPECT_EQ(bounds.flows[0].response, unbounded);
  const std::string text = unsettled_text(system, bounds);
  EXPECT_NE(text.find("'f1b' on 'b'"), std::string::npos) << text;
  EXPECT_FALSE(answer(system).is_schedulable());
}

TEST(Analysis, the_rule_that_gave_up_is_known_for_each_flow_without_bound) {
  const TaskSystem system = crossed(Time{49});
  const Bounds circle = analyse(system);
  for (const auto& reason : circle.reasons) {
    ASSERT_TRUE(reason);
    EXPECT_EQ(reason->rule, NoBoundRule::growth);
    EXPECT_GE(reason->circle.size(), 2u);
  }
  EXPECT_NE(no_bound_text(system, *circle.reasons[0]).find("become later because of each other"),
            std::string::npos);
  for (const auto& reason : analyse(crossed(Time{20})).reasons) EXPECT_FALSE(reason);

  TaskSystem full;
  const ResourceId r = full.add_resource({"r"});
  const FlowId fast = add_flow(full, "fast", {.period = Time{10}});
  const TaskId a =
      full.add_task(fast, {.name = "a", .resource = r, .worst = Time{9}, .priority = 1});
  const FlowId slow = add_flow(full, "slow", {.period = Time{100}});
  const TaskId b = full.add_task(slow, {.name = "b", .resource = r, .worst = Time{10}});
  const Bounds just_full = analyse(full);
  EXPECT_FALSE(just_full.reasons[fast.index]);
  full.tasks[b.index].worst = Time{11};
  const Bounds overloaded = analyse(full);
  ASSERT_TRUE(overloaded.reasons[slow.index]);
  EXPECT_EQ(*overloaded.reasons[slow.index], (NoBound{NoBoundRule::overload, {b}, {}}));
  EXPECT_EQ(no_bound_text(full, *overloaded.reasons[slow.index]),
            "'b' on 'r' and what can delay it need more than all of its time");
  EXPECT_EQ(overloaded.tasks[a.index].response, Time{9});

  const ResourceId other = full.add_resource({"other"});
  const TaskId c =
      full.add_task(slow, {.name = "c", .resource = other, .worst = Time{1}, .after = {b}});
  const FlowId below = add_flow(full, "below", {.period = Time{100}});
  const TaskId d =
      full.add_task(below, {.name = "d", .resource = other, .worst = Time{1}, .priority = -1});
  const Bounds behind = analyse(full);
  ASSERT_TRUE(behind.reasons[below.index]);
  EXPECT_EQ(*behind.reasons[below.index], (NoBound{NoBoundRule::overload, {d, c, b}, {}}));
  EXPECT_EQ(no_bound_text(full, *behind.reasons[below.index]),
            "'d' on 'other' waits for or is delayed by 'c' on 'other', and 'b' on 'r' and what can "
            "delay it need more than all of its time");
}

TEST(Analysis, an_overload_is_named_with_its_tasks_and_higher_priorities_keep_their_bounds) {
  TaskSystem system;
  const ResourceId r = system.add_resource({"gpu"});
  const FlowId fast = add_flow(system, "fast", {.period = Time{10}});
  const FlowId slow = add_flow(system, "slow", {.period = Time{100}});
  system.add_task(fast, {.name = "a", .resource = r, .worst = Time{9}, .priority = 1});
  system.add_task(slow, {.name = "b", .resource = r, .worst = Time{11}});
  const RealtimeAnswers answers = answer(system);
  EXPECT_EQ(answers.reason,
            "resource 'gpu' has utilisation 1.010, more than 1; its tasks are 'a', 'b'");
  EXPECT_EQ(answers.bounds.tasks[0].response, Time{9});
  EXPECT_EQ(answers.bounds.tasks[1].response, unbounded);
  EXPECT_THROW(simulate(system), InputError);
}

TEST(Analysis, a_graph_ends_with_the_last_of_its_branches) {
  TaskSystem system;
  const ResourceId a = system.add_resource({"a"}), b = system.add_resource({"b"});
  const FlowId flow = add_flow(system, "flow", {.period = Time{100}});
  const TaskId first = system.add_task(flow, {.name = "first", .resource = a, .worst = Time{5}});
  const TaskId left =
      system.add_task(flow, {.name = "left", .resource = a, .worst = Time{7}, .after = {first}});
  const TaskId right =
      system.add_task(flow, {.name = "right", .resource = b, .worst = Time{20}, .after = {first}});
  system.add_task(flow, {.name = "last", .resource = a, .worst = Time{3}, .after = {left, right}});
  const Bounds bounds = analyse(system);
  EXPECT_EQ(bounds.flows[0].response, Time{28});
  EXPECT_EQ(simulate(system).largest.flows[0], Time{28});
}

TEST(Analysis, what_does_not_fit_into_64_bits_is_an_error) {
  TaskSystem system;
  const ResourceId r = system.add_resource({"r"});
  const FlowId flow = add_flow(system, "f", {.period = Time{std::int64_t{1} << 60}});
  system.add_task(flow, {.name = "t", .resource = r, .worst = Time{1}});
  EXPECT_THROW(analyse(system), InputError);
}

}  // namespace
}  // namespace millrace::realtime
