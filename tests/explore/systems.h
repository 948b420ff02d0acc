#pragma once
// Small systems made by hand: a board with two cores, a GPU and two accelerators, and plans whose
// times and powers are round numbers.
#include <map>
#include <string>
#include <vector>

#include "base/random.h"
#include "board/board.h"
#include "explore/system/combination.h"

namespace millrace::explore::test {

inline board::Device device_at(const std::string& name, board::ProcessorKind kind,
                               const std::vector<std::string>& processors) {
  board::Device device;
  device.name = name;
  device.kind = kind;
  device.processors = processors;
  device.clocks = {{500}, {750}, {1000}};
  device.scheduling = board::usual_scheduling(kind);
  return device;
}

inline board::Board small_board() {
  board::Board board;
  board.name = "small";
  board::Device cores = device_at("cores", board::ProcessorKind::cpu, {"core0", "core1"});
  cores.cores = {0, 1};
  cores.power = {{{500}, {10}, {100}, {}}, {{1000}, {20}, {400}, {}}};
  board::Device gpu = device_at("gpu", board::ProcessorKind::gpu, {"gpu"});
  gpu.power = {{{500}, {100}, {2000}, {}}, {{1000}, {200}, {8000}, {}}};
  board::Device npu = device_at("npu", board::ProcessorKind::npu, {"npu0", "npu1"});
  npu.power = {{{500}, {10}, {200}, {}}, {{1000}, {20}, {800}, {}}};
  npu.limits.subnets_together = 2;
  board.devices = {cores, gpu, npu};
  for (const board::Device& device : board.devices)
    for (const board::Processor& processor : board::processors_of(device))
      board.processors.push_back(processor);
  return board;
}

/// One task after the other: processor and worst time.
inline GroupPlan chain_plan(const std::vector<std::pair<std::string, Time>>& tasks) {
  GroupPlan plan;
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    deployment::Task task;
    task.name = "stage" + std::to_string(t);
    task.stage = t;
    task.processor = tasks[t].first;
    task.worst = task.average = task.best = tasks[t].second;
    if (t > 0) task.after = {t - 1};
    plan.latency += task.average;
    plan.assignment.tasks.push_back(std::move(task));
  }
  plan.configuration.stages.resize(tasks.size());
  return plan;
}

/// Each group 50 times a second; scenarios by their groups.
inline system::System system_of(std::size_t groups,
                                const std::vector<std::vector<std::size_t>>& scenarios) {
  system::System system;
  system.name = "small";
  for (std::size_t g = 0; g < groups; ++g) {
    system::Group group;
    group.name = "g" + std::to_string(g);
    group.rates = {50, 50};
    system.groups.push_back(group);
  }
  for (std::size_t s = 0; s < scenarios.size(); ++s) {
    system::Scenario scenario;
    scenario.name = "s" + std::to_string(s);
    for (const std::size_t g : scenarios[s]) scenario.groups.emplace_back(g);
    system.scenarios.push_back(scenario);
  }
  return system;
}

/// On the GPU alone, or partly on one or two accelerators, with times by chance.
inline std::vector<GroupPlan> random_plans(std::size_t count, std::uint64_t seed) {
  Random random(seed);
  std::vector<GroupPlan> plans;
  using std::chrono::milliseconds;
  const auto time = [&] {
    return Time(500'000 + static_cast<std::int64_t>(random.below(4'000'000)));
  };
  plans.push_back(chain_plan({{"gpu", time() + milliseconds(2)}}));
  while (plans.size() < count)
    plans.push_back(random.below(3) == 0
                        ? chain_plan({{"npu0", time()}, {"npu1", time()}, {"gpu", time()}})
                        : chain_plan({{"npu0", time() + milliseconds(1)}, {"gpu", time()}}));
  return plans;
}

}  // namespace millrace::explore::test
