// Bounds of flows that return to resources: windows of whole visits, and of all work.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "realtime/analysis.h"
#include "realtime/simulate.h"

namespace millrace::realtime {
namespace {

/// A task on a resource after the flow's last one.
struct ChainStep {
  ResourceId on;
  std::int64_t worst = 0, priority = 0, offset = 0;
};

void add_chain(TaskSystem& system, const char* name, EventModel events,
                 const std::vector<ChainStep>& steps) {
  const FlowId flow = system.add_flow({.name = name, .events = events});
  for (const ChainStep& step : steps) {
    Task task{.name = name + std::to_string(system[flow].tasks.size()),
              .resource = step.on,
              .worst = Time{step.worst},
              .best = Time{step.worst}};
    task.priority = step.priority;
    task.offset = Time{step.offset};
    if (!system[flow].tasks.empty()) task.after = {system[flow].tasks.back()};
    system.add_task(flow, task);
  }
}

void expect_bounds_above_simulation(const TaskSystem& system) {
  const Bounds bounds = analyse(system);
  const SimulatedResponses seen = simulate(system, {1, 200});
  for (std::size_t f = 0; f < system.flows.size(); ++f) {
    EXPECT_FALSE(bounds.reasons[f]) << f;
    EXPECT_GE(bounds.flows[f].response, seen.largest.flows[f]) << f;
    EXPECT_LE(bounds.flows[f].response, 6 * seen.largest.flows[f]) << f;
  }
}

/// Flows go to and fro between two cores that are 0.7 busy, together 1.4: their tasks make each
/// other later, what a flow does in one visit does not.
TEST(VisitWindow, flows_that_go_to_and_fro_have_bounds) {
  TaskSystem system;
  const ResourceId a = system.add_resource({"a"}), b = system.add_resource({"b"});
  add_chain(system, "to", {.period = Time{2000}, .jitter = Time{1077}},
            {{a, 62, 1}, {a, 24, 11}, {b, 88, 10}, {b, 333, 9}});
  add_chain(system, "there", {.period = Time{1200}, .jitter = Time{150}},
            {{a, 60, 3}, {a, 248, 6, 481}, {a, 7, 0}});
  add_chain(system, "fro", {.period = Time{1000}, .jitter = Time{1499}},
            {{b, 123, 9}, {b, 116, 9}, {b, 249, 15}, {a, 22, 16}});
  add_chain(system, "often", {.period = Time{300}, .jitter = Time{293}},
            {{a, 76, 16}, {a, 1, 10}, {a, 33, 6}});
  expect_bounds_above_simulation(system);
}

/// An offset lets the core wait, but not for longer than the offset.
TEST(WholeWindow, offsets_on_a_busy_core_leave_a_bound) {
  TaskSystem system;
  const ResourceId r = system.add_resource({"r"});
  add_chain(system, "two", {.period = Time{800}}, {{r, 37, 8}, {r, 347, 11}});
  add_chain(system, "late",
            {.period = Time{1500}, .jitter = Time{953}, .min_distance = Time{397}},
            {{r, 310, 4}, {r, 165, 15}, {r, 149, 7}, {r, 3, 6, 107}});
  expect_bounds_above_simulation(system);
}

}  // namespace
}  // namespace millrace::realtime
