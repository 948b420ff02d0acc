#include "explore/system/placement.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace millrace::explore {
namespace {

const GroupPlan& plan_of(const CombinationProblem& problem, const Combination& combination,
                         std::size_t group) {
  return problem.plans[group][combination[group]];
}

bool is_one_of_several_accelerators(const board::Board& board, const std::string& processor) {
  const std::vector<std::size_t> equal = equal_processors(board, processor);
  return equal.size() > 1 && board.processors[equal.front()].kind != board::ProcessorKind::cpu;
}

Time longest_on_accelerators(const CombinationProblem& problem, const GroupPlan& plan) {
  Time longest{};
  for (const deployment::Task& task : plan.assignment.tasks)
    if (is_one_of_several_accelerators(problem.board, task.processor))
      longest = std::max(longest, task.worst);
  return longest;
}

bool run_together(const CombinationProblem& problem, system::GroupId one, system::GroupId other) {
  return std::ranges::any_of(problem.scenes, [&](const Scene& scene) {
    return std::ranges::count(scene.groups, one) > 0 && std::ranges::count(scene.groups, other) > 0;
  });
}

/// Each group followed by those that run together with it.
std::vector<std::size_t> order_of_groups(const CombinationProblem& problem,
                                         const Combination& combination) {
  std::vector<std::size_t> by_length(problem.plans.size()), order;
  std::iota(by_length.begin(), by_length.end(), 0);
  std::ranges::stable_sort(by_length, std::greater{}, [&](std::size_t group) {
    return longest_on_accelerators(problem, plan_of(problem, combination, group));
  });
  const auto add = [&](std::size_t group) {
    if (std::ranges::count(order, group) == 0) order.push_back(group);
  };
  for (const std::size_t group : by_length) {
    add(group);
    for (const std::size_t other : by_length)
      if (run_together(problem, system::GroupId(group), system::GroupId(other))) add(other);
  }
  return order;
}

/// The first core of each CPU device but that on which the plan has the step; none: it has no such.
std::vector<std::string> other_cores(const board::Board& board, const GroupPlan& plan,
                                     deployment::Step step) {
  const auto& tasks = plan.assignment.tasks;
  const auto task = std::ranges::find(tasks, step, &deployment::Task::step);
  std::vector<std::string> result;
  if (task == tasks.end()) return result;
  for (const board::Device& device : board.devices) {
    const std::vector<board::Processor> cores = processors_of(device);
    const bool is_other = std::ranges::none_of(
        cores, [&](const board::Processor& core) { return core.name == task->processor; });
    if (device.kind == board::ProcessorKind::cpu && !cores.empty() && is_other)
      result.push_back(cores.front().name);
  }
  return result;
}

}  // namespace

std::size_t core_of_its_own(const board::Board& board, std::size_t processor, std::size_t stage) {
  return (stage + 1) * board.processors.size() + processor;
}

std::size_t processor_like(const board::Board& board, std::size_t placed) {
  return placed % board.processors.size();
}

std::vector<GroupPlan> with_steps_on_each_device(const board::Board& board,
                                                 std::vector<GroupPlan> plans) {
  using deployment::Step;
  for (const Step step : {Step::preprocess, Step::postprocess}) {
    const std::size_t before = plans.size();
    for (std::size_t p = 0; p < before; ++p) {
      const GroupPlan plan = plans[p];
      for (const std::string& core : other_cores(board, plan, step)) {
        plans.push_back(plan);
        const auto task =
            std::ranges::find(plans.back().assignment.tasks, step, &deployment::Task::step);
        task->processor = core;
      }
    }
  }
  return plans;
}

std::vector<std::size_t> equal_processors(const board::Board& board, const std::string& processor) {
  const auto at = std::ranges::find(board.processors, processor, &board::Processor::name);
  const board::Device* device = device_of(board, *at);
  std::vector<std::size_t> result;
  for (std::size_t p = 0; p < board.processors.size(); ++p)
    if (&board.processors[p] == &*at ||
        (device != nullptr && device_of(board, board.processors[p]) == device))
      result.push_back(p);
  return result;
}

std::vector<std::size_t> stages_of_tasks(const deployment::Assignment& assignment) {
  std::map<std::pair<int, std::size_t>, std::size_t> numbers;
  std::vector<std::size_t> result;
  for (const deployment::Task& task : assignment.tasks)
    result.push_back(numbers.try_emplace({static_cast<int>(task.step), task.stage}, numbers.size())
                         .first->second);
  return result;
}

Placement place_stages(const CombinationProblem& problem, const Combination& combination) {
  Placement placement(problem.plans.size());
  std::map<std::size_t, std::size_t> next;  // by the first processor of the device
  for (const std::size_t group : order_of_groups(problem, combination)) {
    const deployment::Assignment& assignment = plan_of(problem, combination, group).assignment;
    const std::vector<std::size_t> stages = stages_of_tasks(assignment);
    std::map<std::size_t, std::size_t> placed;  // by stage
    for (std::size_t t = 0; t < stages.size(); ++t) {
      if (!placed.contains(stages[t])) {
        const auto equal = equal_processors(problem.board, assignment.tasks[t].processor);
        placed[stages[t]] = equal[next[equal.front()]++ % equal.size()];
      }
      placement[group].push_back(placed[stages[t]]);
    }
  }
  return placement;
}

}  // namespace millrace::explore
