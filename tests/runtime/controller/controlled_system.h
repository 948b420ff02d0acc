#pragma once
// A system of small networks on the simulated engine, deployed by hand.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/simulated/simulated.h"
#include "plan/build.h"
#include "runtime/controller/controller.h"
#include "runtime/controller/script.h"
#include "runtime/sketch.h"

namespace millrace::test {

/// Groups of one chain each; every layer takes a millisecond, and stages lie on cores by turns.
class ControlledSystem {
 public:
  struct Group {
    std::size_t layers = 1;
    double fps = 50;
    std::vector<std::size_t> cores = {0};  // by layer, the last for the rest
    Time deadline{};                       // 0: the period
    double least_fps = 0;                  // 0: fps
  };

  explicit ControlledSystem(const std::vector<Group>& groups, Time layer = milliseconds_of(1))
      : engine_(engine::simulated::make(
            [layer](const network::Network&, LayerId, const board::Processor&) { return layer; })) {
    const std::vector<int> cores = board::cores_of_this_thread();
    for (std::size_t i = 0; i < 2; ++i)
      board.processors.push_back(
          {fmt::format("core{}", i), board::ProcessorKind::cpu, {cores[i % cores.size()]}});
    deployment.system.name = "test";
    deployment.system.file = "test.yaml";
    for (const Group& group : groups) add(group);
    add_scenario("all", all_groups());
  }

  static constexpr Time milliseconds_of(std::int64_t count) {
    return std::chrono::milliseconds(count);
  }

  void add_scenario(const std::string& name, const std::vector<std::size_t>& groups) {
    system::Scenario scenario{name, {}};
    for (const std::size_t group : groups) scenario.groups.emplace_back(group);
    deployment.system.scenarios.push_back(scenario);
  }
  std::vector<std::size_t> all_groups() const {
    std::vector<std::size_t> all(deployment.system.groups.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
    return all;
  }
  /// A step of the group, on a core.
  void add_step(std::size_t group, deployment::Step step, std::size_t core, Time worst) {
    deployment::Task task;
    task.name = step == deployment::Step::preprocess ? "pre" : "post";
    task.step = step;
    task.processor = board.processors[core].name;
    task.worst = task.average = task.best = worst;
    auto& tasks = deployment.assignments[group].tasks;
    system::Group& of = deployment.system.groups[group];
    (step == deployment::Step::preprocess ? of.preprocess : of.postprocess) = worst;
    tasks.insert(step == deployment::Step::preprocess ? tasks.begin() : tasks.end(), task);
    for (std::size_t i = 1; i < tasks.size(); ++i) tasks[i].after = {i - 1};
  }
  /// For a controller, with this engine or another.
  std::vector<runtime::GroupToRun> to_run(engine::Engine* engine = nullptr) {
    std::vector<runtime::GroupToRun> result;
    for (const auto& network : networks_) {
      runtime::GroupToRun group;
      group.network = network.get();
      group.engines = {{"engine", engine ? engine : engine_.get()}};
      result.push_back(std::move(group));
    }
    return result;
  }
  engine::Engine& engine() { return *engine_; }

  deployment::Deployment deployment;
  board::Board board;

 private:
  void add(const Group& given) {
    networks_.push_back(std::make_unique<network::Network>(chain(given.layers)));
    const network::Network& network = *networks_.back();
    std::vector<std::size_t> cores = given.cores;
    cores.resize(given.layers, given.cores.back());
    deployment::Assignment assignment;
    assignment.plan.plan = plan::build(network, board, mapping(cores), {.engine = "engine"});
    assignment.priority = static_cast<std::int64_t>(deployment.assignments.size());
    const auto& stages = assignment.plan.plan.stages;
    std::map<LayerId, deployment::Task> by_layer;  // in the order in which a frame passes them
    for (std::size_t s = 0; s < stages.size(); ++s)
      for (std::size_t p = 0; p < stages[s].phases.size(); ++p) {
        deployment::Task& task = by_layer[stages[s].phases[p].layers.front()];
        task.name = p == 0 ? stages[s].name : fmt::format("{}.{}", stages[s].name, p);
        task.stage = s;
        task.phase = p;
        task.processor = stages[s].processors.front().name;
        task.worst = task.average = task.best = milliseconds_of(1);
      }
    for (auto& [layer, task] : by_layer) {
      if (!assignment.tasks.empty()) task.after = {assignment.tasks.size() - 1};
      assignment.tasks.push_back(task);
    }
    deployment.assignments.push_back(std::move(assignment));
    system::Group group{fmt::format("g{}", deployment.system.groups.size()), {}, {}, {}};
    group.rates = {given.least_fps > 0 ? given.least_fps : given.fps, given.fps};
    if (given.deadline > Time{}) group.deadline = given.deadline;
    deployment.system.groups.push_back(group);
  }

  std::unique_ptr<engine::Engine> engine_;
  std::vector<std::unique_ptr<network::Network>> networks_;  // sessions keep references
};

/// Every frame that was due is released or skipped, and every released one is done.
inline void expect_none_lost(const runtime::ControllerRecord& record) {
  for (const runtime::GroupRecord& group : record.groups) {
    EXPECT_EQ(group.frames.due, group.frames.released + group.frames.skipped) << group.name;
    EXPECT_EQ(group.frames.lost(), 0) << group.name;
    EXPECT_EQ(group.responses.count(), group.frames.done) << group.name;
    for (const runtime::OperationRecord& each : group.operations) {
      EXPECT_EQ(each.frames.due, each.frames.released + each.frames.skipped) << group.name;
      EXPECT_EQ(each.frames.lost(), 0) << group.name;
    }
  }
}

constexpr deployment::Wanted in_scenario(std::size_t scenario, std::int64_t level = 0) {
  return {system::ScenarioId(scenario), level};
}

/// All groups at the highest level, for so long.
inline runtime::ControllerRecord run(ControlledSystem& system, Time duration,
                                     const runtime::ControllerOptions& options = {}) {
  runtime::Controller controller(system.deployment, system.board, system.to_run(), options);
  controller.start(in_scenario(0, system.deployment.system.levels - 1));
  runtime::play(controller, {}, duration);
  return controller.stop();
}

}  // namespace millrace::test
