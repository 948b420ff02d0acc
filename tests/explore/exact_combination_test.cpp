// The exact search beside deployments typed by hand, which know nothing of the search: each is
// analysed and its power computed as `analyze` does it.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "deployment/deployment.h"
#include "deployment/power.h"
#include "explore/system/combination.h"
#include "explore/system/placement.h"
#include "realtime/analysis.h"
#include "systems.h"

namespace millrace::explore {
namespace {

using namespace std::chrono_literals;
using namespace test;
using deployment::Step;

constexpr double no_power = std::numeric_limits<double>::infinity();

/// Two kinds of cores and a GPU, with two clocks each.
board::Board board_of_two_kinds(bool has_npus) {
  board::Board board = small_board();
  board::Device little = device_at("little", board::ProcessorKind::cpu, {"core4", "core5"});
  little.cores = {4, 5};
  little.power = {{{500}, {5}, {60}, {}}, {{1000}, {12}, {200}, {}}};
  if (!has_npus) board.devices.pop_back();
  board.devices.push_back(little);
  board.processors.clear();
  for (board::Device& device : board.devices) {
    device.clocks = {{500}, {1000}};
    for (const board::Processor& processor : board::processors_of(device))
      board.processors.push_back(processor);
  }
  return board;
}

Time time_below(Random& random, std::int64_t most_us) {
  return Time(std::chrono::microseconds(
      200 + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(most_us)))));
}

/// On the GPU, on a core, or on both, with a step before, after, both or none; 1 to 3 tasks.
GroupPlan hand_plan(Random& random, bool has_npus) {
  std::vector<std::pair<std::string, Time>> tasks;
  const bool has_pre = random.below(3) > 0;
  if (has_pre) tasks.push_back({"core0", time_below(random, 5000)});
  const auto kind = random.below(has_npus ? 5 : 4);
  if (kind == 0) tasks.push_back({"core4", time_below(random, 8000)});
  if (kind >= 1) tasks.push_back({"gpu", time_below(random, 6000)});
  if (kind == 4) tasks.back().first = "npu0";
  if (kind == 3 && !has_pre) tasks.push_back({"core1", time_below(random, 4000)});
  const bool has_post = tasks.size() < 3 && random.below(2) == 0;
  if (has_post) tasks.push_back({"core0", time_below(random, 3000)});
  GroupPlan plan = chain_plan(tasks);
  auto& made = plan.assignment.tasks;
  for (deployment::Task& task : made) {
    task.average = task.worst * 8 / 10;
    task.best = task.worst * static_cast<std::int64_t>(2 + random.below(6)) / 10;
    if (task.processor == "gpu" && random.below(2) == 0)
      task.kernels = {task.worst / 3, task.worst - task.worst / 3};
  }
  if (has_pre) made.front().step = Step::preprocess;
  if (has_post) made.back().step = Step::postprocess;
  return plan;
}

/// A system, its board, and the plans of each group as they are offered to someone with a pencil.
struct HandCase {
  board::Board board;
  system::System system;
  std::vector<std::vector<GroupPlan>> plans;

  HandCase(std::uint64_t seed, std::size_t most_groups, bool has_npus)
      : board(board_of_two_kinds(has_npus)) {
    Random random(seed);
    const std::size_t groups = 1 + random.below(most_groups);
    std::vector<std::size_t> all;
    for (std::size_t g = 0; g < groups; ++g) all.push_back(g);
    std::vector<std::vector<std::size_t>> scenarios{all};
    if (random.below(3) == 0) scenarios.push_back({all.back()});
    system = system_of(groups, scenarios);
    if (random.below(3) == 0) system.release_cost = 100us;
    for (std::size_t g = 0; g < groups; ++g) {
      const double fps = std::array{25.0, 50.0, 80.0}[random.below(3)];
      system.groups[g].rates = {fps, fps};
      if (random.below(2) == 0) system.groups[g].deadline = time_below(random, 30'000);
      auto& own = plans.emplace_back();
      const auto priority = static_cast<std::int64_t>(random.below(3));
      for (std::size_t p = 1 + random.below(2); p > 0; --p) {
        own.push_back(hand_plan(random, has_npus));
        own.back().assignment.priority = priority;
      }
    }
  }
  HandCase(const HandCase&) = delete;

  /// As `deploy --exact` makes it.
  CombinationProblem problem() const {
    CombinationProblem result{system, board, {}, scenes_of(system)};
    for (const auto& each : plans) result.plans.push_back(with_steps_on_each_device(board, each));
    result.thorough = true;
    return result;
  }
  deployment::Deployment first_deployment() const {
    deployment::Deployment result;
    result.system = system;
    for (const auto& each : plans) result.assignments.push_back(each.front().assignment);
    return result;
  }
};

/// Where someone may put this task: a step on any core, a stage on what is like its processor.
std::vector<std::string> choices_for(const HandCase& given, const deployment::Task& task) {
  std::vector<std::string> result;
  for (const std::size_t p : equal_processors(given.board, task.processor))
    result.push_back(given.board.processors[p].name);
  if (task.step == Step::phase) return result;
  result.clear();
  for (const board::Processor& processor : given.board.processors)
    if (processor.kind == board::ProcessorKind::cpu) result.push_back(processor.name);
  return result;
}

/// Two stages of a network are on two processors, as in its plan.
bool keeps_stages_apart(const deployment::Assignment& plan, const deployment::Assignment& placed) {
  for (std::size_t a = 0; a < plan.tasks.size(); ++a)
    for (std::size_t b = 0; b < a; ++b)
      if (plan.tasks[a].step == Step::phase && plan.tasks[b].step == Step::phase &&
          plan.tasks[a].processor != plan.tasks[b].processor &&
          placed.tasks[a].processor == placed.tasks[b].processor)
        return false;
  return true;
}

double power_at(const HandCase& given, const deployment::Deployment& typed,
                const deployment::Operation& operation) {
  double sum = 0;
  for (const auto& device : expected_power(typed, given.board, operation))
    sum += device.still_mw + device.busy_mw;
  return sum;
}

/// Whether `analyze` takes it at all: the board has room for its subnets.
bool is_accepted(const HandCase& given, const deployment::Deployment& typed) {
  try {
    deployment::check(typed, given.board);
  } catch (const InputError&) {
    return false;
  }
  return true;
}

bool holds(const HandCase& given, const deployment::Deployment& typed,
           const deployment::Operation& operation) {
  const realtime::TaskSystem tasks = task_system(typed, given.board, operation);
  return realtime::is_schedulable(tasks, realtime::analyse(tasks));
}

/// Every choice of clocks.
std::vector<deployment::Clocks> all_clocks(const board::Board& board) {
  std::vector<deployment::Clocks> result{{}};
  for (const board::Device& device : board.devices) {
    std::vector<deployment::Clocks> longer;
    for (const deployment::Clocks& clocks : result)
      for (const board::Megahertz clock : device.clocks) {
        longer.push_back(clocks);
        longer.back()[device.name] = clock;
      }
    result = std::move(longer);
  }
  return result;
}

/// The least power of a scenario at any clocks at which it holds, if that is below `most`.
double least_of_scenario(const HandCase& given, const deployment::Deployment& typed,
                         std::size_t scenario, double most) {
  std::vector<std::pair<double, deployment::Operation>> operations;
  for (const deployment::Clocks& clocks : all_clocks(given.board)) {
    const deployment::Operation operation{system::ScenarioId(scenario), 0, clocks};
    operations.push_back({power_at(given, typed, operation), operation});
  }
  std::ranges::sort(operations, {}, [](const auto& each) { return each.first; });
  for (const auto& [power, operation] : operations) {
    if (power >= most) break;
    if (holds(given, typed, operation)) return power;
  }
  return no_power;
}

double least_of_deployment(const HandCase& given, const deployment::Deployment& typed,
                           double most) {
  const std::vector<double> shares = system::shares(given.system);
  double sum = 0;
  for (std::size_t s = 0; s < shares.size(); ++s)
    sum += shares[s] * least_of_scenario(given, typed, s, (most - sum) / shares[s]);
  return sum;
}

/// Tries every plan, processor and clock.
struct Enumeration {
  const HandCase& given;
  deployment::Deployment typed;
  double least = no_power;

  explicit Enumeration(const HandCase& of) : given(of), typed(of.first_deployment()) {}

  void try_plans(std::size_t group) {
    if (group == given.plans.size()) {
      least = std::min(least, least_of_deployment(given, typed, least));
      return;
    }
    for (const GroupPlan& plan : given.plans[group]) {
      typed.assignments[group] = plan.assignment;
      try_processors(group, plan.assignment, 0);
    }
  }
  void try_processors(std::size_t group, const deployment::Assignment& plan, std::size_t task) {
    if (task == plan.tasks.size()) {
      if (keeps_stages_apart(plan, typed.assignments[group])) try_plans(group + 1);
      return;
    }
    for (const std::string& processor : choices_for(given, plan.tasks[task])) {
      typed.assignments[group].tasks[task].processor = processor;
      try_processors(group, plan, task + 1);
    }
  }
};

constexpr std::uint64_t systems = 50;  // 500 take 40 s

TEST(ExactCombination, it_is_as_good_as_all_that_can_be_typed_on_two_kinds_of_cores) {
  std::uint64_t feasible = 0;
  for (std::uint64_t seed = 1; seed <= systems; ++seed) {
    const HandCase given(seed, 2, false);
    const CombinationProblem problem = given.problem();
    const Combined exact = exact_combination(problem, {});
    Enumeration all(given);
    all.try_plans(0);
    EXPECT_EQ(exact.feasible, std::isfinite(all.least)) << seed;
    if (!exact.feasible || !std::isfinite(all.least)) continue;
    ++feasible;
    EXPECT_NEAR(exact.power_mw, all.least, 1e-9 * all.least) << seed;
    EXPECT_NEAR(exact.bound_mw, all.least, 1e-9 * all.least) << seed;
  }
  EXPECT_GE(feasible, systems / 4);
}

/// A plan of each group on any processors.
deployment::Deployment typed_by_chance(const HandCase& given, Random& random) {
  deployment::Deployment typed = given.first_deployment();
  for (std::size_t g = 0; g < given.plans.size(); ++g) {
    const deployment::Assignment& plan =
        given.plans[g][random.below(given.plans[g].size())].assignment;
    deployment::Assignment& placed = typed.assignments[g];
    do {
      placed = plan;
      for (deployment::Task& task : placed.tasks) {
        const std::vector<std::string> choices = choices_for(given, task);
        task.processor = choices[random.below(choices.size())];
      }
    } while (!keeps_stages_apart(plan, placed));
  }
  return typed;
}

TEST(ExactCombination, no_deployment_by_chance_draws_less_than_the_bound) {
  const std::uint64_t tries = 40;
  int schedulable = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const HandCase given(1000 + seed, 4, true);
    CombineOptions options;
    options.most_nodes = seed % 2 == 0 ? 50 : 3000;  // its bound counts also if it ends early
    const Combined exact = exact_combination(given.problem(), options);
    Random random(seed);
    for (std::uint64_t i = 0; i < tries; ++i) {
      const deployment::Deployment typed = typed_by_chance(given, random);
      if (!is_accepted(given, typed)) continue;
      const double power = least_of_deployment(given, typed, no_power);
      if (!std::isfinite(power)) continue;
      ++schedulable;
      EXPECT_LE(exact.bound_mw, power * (1 + 1e-9)) << seed << ", " << i;
    }
  }
  EXPECT_GE(schedulable, 300);
}

}  // namespace
}  // namespace millrace::explore
