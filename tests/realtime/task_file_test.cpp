#include "realtime/files/task_file.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace millrace::realtime {
namespace {

constexpr const char* robot = R"(unit: ms
resources:
  - {name: core, policy: fixed_priority}
  - {name: gpu, policy: fifo_by_kernel}
flows:
  - name: camera
    period: 33.3
    jitter: 2
    deadline: 40
    tasks:
      - {name: grab, resource: core, worst: 4, best: 3.5, priority: 2}
      - {name: detect, resource: gpu, kernels: [5, 2.5]}
      - {name: log, resource: core, worst: 1, after: [grab]}
)";

TaskFile read(const std::string& text) { return task_file_of(parse_yaml(text, "f"), "f"); }

TEST(TaskFile, times_are_exact_and_tasks_follow_each_other) {
  const TaskFile file = read(robot);
  EXPECT_EQ(file.system.flows[0].events.period, Time{33'300'000});
  EXPECT_EQ(file.system.tasks[1].worst, Time{7'500'000});
  EXPECT_EQ(file.system.tasks[1].best, Time{7'500'000});
  EXPECT_EQ(file.system.tasks[1].after, std::vector{TaskId(0)});
  EXPECT_EQ(file.system.tasks[2].after, std::vector{TaskId(0)});
  EXPECT_EQ(to_text(file.system.flows[0].events.period, file.unit), "33.3");
  EXPECT_EQ(to_text(Time{-500'000}, file.unit), "-0.5");
}

TEST(TaskFile, limits_of_activations_are_read) {
  std::string text = robot;
  const std::string period = "period: 33.3";
  text.replace(text.find(period), period.size(), period + "\n    limit: {events: 2, every: 70.5}");
  EXPECT_EQ(read(text).system.flows[0].limit, (ActivationLimit{2, Time{70'500'000}}));
  EXPECT_FALSE(read(robot).system.flows[0].limit);
}

void expect_error(std::string text, const std::string& from, const std::string& to,
                  const std::string& words) {
  const auto place = text.find(from);
  ASSERT_NE(place, std::string::npos);
  text.replace(place, from.size(), to);
  try {
    read(text);
    ADD_FAILURE() << words;
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
  }
}

TEST(TaskFile, errors_name_the_place_and_what_to_do) {
  expect_error(robot, "policy: fifo_by_kernel", "policy: fifo_by_kernl",
               "did you mean 'fifo_by_kernel'?");
  expect_error(robot, "resource: gpu", "resource: gpus", "there is no resource 'gpus'");
  expect_error(robot, "worst: 4,", "worst: 3,", "exceeds its worst-case time 3 ms; swap them");
  expect_error(robot, "period: 33.3", "period: 0", "its period is 0");
  expect_error(robot, "jitter: 2", "jitter: -2", "found '-2', expected a time");
  expect_error(robot, "after: [grab]", "after: [log]", "there is no task 'log' before this");
  expect_error(robot, "unit: ms", "unit: min", "expected ns, us, ms or s");
}

TEST(TaskFile, systems_of_other_tools_are_read) {
  const TaskFile file = read(R"({"resources": [{"name": "r", "scheduler": "SPNP"}], "flows": [
    {"name": "f", "period": 30, "jitter": null, "steps": [
      {"task": "a", "resource": "r", "wcet": 1.5, "bcet": null, "priority": 2},
      {"task": "a", "resource": "r", "wcet": 1, "priority": 1}]}]})");
  EXPECT_EQ(file.unit.ticks, 10);
  EXPECT_EQ(file.system.resources[0].policy, SchedulingPolicy::fixed_priority_nonpreemptive);
  EXPECT_EQ(file.system.tasks[0].worst, Time{15});
  EXPECT_EQ(file.system.tasks[1].name, "a#2");
  EXPECT_EQ(file.system.tasks[1].after, std::vector{TaskId(0)});
}

}  // namespace
}  // namespace millrace::realtime
