// A camera and a control loop on a core and an accelerator: do both keep their deadlines?
#include <cstdio>

#include "realtime/analysis.h"
#include "realtime/simulate.h"

int main() {
  using namespace millrace::realtime;
  using millrace::Time;

  // Times are in any unit. A higher number is a higher priority.
  TaskSystem system;
  const auto core = system.add_resource({"core", SchedulingPolicy::fixed_priority});
  const auto accelerator = system.add_resource({"accelerator", SchedulingPolicy::fifo});

  const auto camera = system.add_flow({.name = "camera",
                                       .events = {.period = Time{100}, .jitter = Time{10}},
                                       .deadline = Time{100}});
  const auto grab = system.add_task(
      camera,
      {.name = "grab", .resource = core, .worst = Time{10}, .best = Time{8}, .priority = 2});
  const auto detect = system.add_task(camera, {.name = "detect",
                                               .resource = accelerator,
                                               .worst = Time{40},
                                               .best = Time{30},
                                               .after = {grab}});
  system.add_task(camera, {.name = "draw",
                           .resource = core,
                           .worst = Time{15},
                           .best = Time{15},
                           .after = {detect},
                           .priority = 1});

  const auto control =
      system.add_flow({.name = "control", .events = {.period = Time{25}}, .deadline = Time{25}});
  system.add_task(control, {.name = "steer", .resource = core, .worst = Time{5}, .priority = 3});

  const Bounds bounds = analyse(system);
  const SimulatedResponses seen = simulate(system);
  for (std::size_t f = 0; f < system.flows.size(); ++f)
    std::printf("%s: at most %lld, at least %lld, simulated %lld\n", system.flows[f].name.c_str(),
                static_cast<long long>(bounds.flows[f].response.count()),
                static_cast<long long>(bounds.flows[f].best.count()),
                static_cast<long long>(seen.largest.flows[f].count()));
  std::printf("every deadline holds: %s\n", is_schedulable(system, bounds) ? "yes" : "no");
}
