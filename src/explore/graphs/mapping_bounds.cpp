// The least utilisation that any mapping has, and the mapping with the least.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "explore/graphs/mapping_search.h"
#include "explore/system/placement.h"

namespace millrace::explore {
namespace {

using system::GroupId;

/// What has to be done on one of some classes of processors, as a share of a processor's time.
struct Load {
  std::vector<std::size_t> classes;
  double share = 0;
};

/// A way to run a task or a network.
struct Way {
  std::vector<Load> loads;
};
using Ways = std::vector<Way>;

/// Processors that are equal for everything that has to be placed, as one class.
struct Classes {
  std::vector<std::size_t> of;  // by processor
  std::vector<double> sizes;

  explicit Classes(const MappingProblem& problem) : of(problem.board.processors.size()) {
    const bool by_device = std::ranges::all_of(problem.tasks, [&](const TaskChoice& task) {
      return std::ranges::all_of(task.places, [&](const TaskPlace& place) {
        const auto& name = problem.board.processors[place.processor].name;
        const auto is_same_kind = [&](const TaskPlace& other) { return other.kind == place.kind; };
        return std::ranges::count_if(task.places, is_same_kind) >=
               std::ssize(equal_processors(problem.board, name));
      });
    });
    for (std::size_t p = 0; p < of.size(); ++p) {
      const auto& name = problem.board.processors[p].name;
      const std::size_t first = by_device ? equal_processors(problem.board, name).front() : p;
      if (first == p) sizes.push_back(0);
      of[p] = first == p ? sizes.size() - 1 : of[first];
      ++sizes[of[p]];
    }
  }

  std::vector<std::size_t> of_equal(const board::Board& board, const std::string& name) const {
    std::vector<std::size_t> result;
    for (const std::size_t p : equal_processors(board, name))
      if (std::ranges::find(result, of[p]) == result.end()) result.push_back(of[p]);
    return result;
  }
};

class Relaxation {
 public:
  Relaxation(const MappingProblem& problem, const Scene& scene) : classes_(problem) {
    const auto period = [&](GroupId group) {
      return seconds(period_of(problem.system, group, problem.system.levels - 1));
    };
    for (const GroupId group : scene.groups) {
      if (problem.plans[group.index].empty()) continue;
      Ways& ways = items_.emplace_back();
      for (const GroupPlan& plan : problem.plans[group.index]) {
        Way& way = ways.emplace_back();
        for (const deployment::Task& task : plan.assignment.tasks)
          way.loads.push_back({classes_.of_equal(problem.board, task.processor),
                               seconds(task.worst) / period(group)});
      }
    }
    for (const TaskChoice& task : problem.tasks) {
      if (std::ranges::find(scene.groups, task.group) == scene.groups.end()) continue;
      Ways& ways = items_.emplace_back();
      for (const TaskPlace& place : task.places)
        ways.push_back(
            {{{{classes_.of[place.processor]},
               seconds(place.worst) * static_cast<double>(task.firings) / period(task.group)}}});
    }
  }

  /// By duality every choice of prices gives a bound: the prices add up to 1, each processor is
  /// paid by its utilisation, and each item takes its cheapest way. Prices follow the loads that
  /// those ways lead to (multiplicative weights).
  double bound() {
    constexpr int rounds = 4000;
    const std::size_t count = classes_.sizes.size();
    std::vector<double> sums(count, 0), prices(count), mean(count, 0);
    double best = 0, largest = 1e-12;
    for (int round = 1; round <= rounds; ++round) {
      const double most = std::ranges::max(sums), pace = std::sqrt(1.0 / round) / largest;
      for (std::size_t c = 0; c < count; ++c) prices[c] = std::exp(pace * 4 * (sums[c] - most));
      const double all = std::accumulate(prices.begin(), prices.end(), 0.0);
      for (std::size_t c = 0; c < count; ++c) mean[c] += prices[c] /= all;
      std::vector<double> loads(count, 0);
      best = std::max(best, cost(prices, &loads));
      for (std::size_t c = 0; c < count; ++c) sums[c] += loads[c];
      largest = std::max(largest, std::ranges::max(loads));
    }
    for (double& price : mean) price /= rounds;
    return std::max({best, cost(mean, nullptr), largest_part()});
  }

 private:
  /// No part of an item is shared out.
  double largest_part() const {
    double result = 0;
    for (const Ways& ways : items_) {
      double least = std::numeric_limits<double>::infinity();
      for (const Way& way : ways)
        least = std::min(least, std::ranges::max(way.loads, {}, &Load::share).share);
      result = std::max(result, least);
    }
    return result;
  }

  /// Where the load costs least.
  std::size_t cheapest_class(const Load& load, const std::vector<double>& prices) const {
    return *std::ranges::min_element(
        load.classes, {}, [&](std::size_t at) { return prices[at] / classes_.sizes[at]; });
  }

  double cost_of_way(const Way& way, const std::vector<double>& prices) const {
    double sum = 0;
    for (const Load& load : way.loads) {
      const std::size_t at = cheapest_class(load, prices);
      sum += prices[at] * load.share / classes_.sizes[at];
    }
    return sum;
  }

  double cost(const std::vector<double>& prices, std::vector<double>* loads) const {
    double sum = 0;
    for (const Ways& ways : items_) {
      const auto of_way = [&](const Way& way) { return cost_of_way(way, prices); };
      const Way& cheapest = *std::ranges::min_element(ways, {}, of_way);
      sum += cost_of_way(cheapest, prices);
      if (loads == nullptr) continue;
      for (const Load& load : cheapest.loads) {
        const std::size_t at = cheapest_class(load, prices);
        (*loads)[at] += load.share / classes_.sizes[at];
      }
    }
    return sum;
  }

  const Classes classes_;
  std::vector<Ways> items_;
};

/// Depth first over the parts of a mapping; none is followed whose utilisation is too large
/// already.
class Exhaustive {
 public:
  Exhaustive(const MappingProblem& problem, std::size_t most_nodes)
      : problem_(problem), left_(most_nodes), evaluator_(problem) {
    for (std::size_t g = 0; g < problem.plans.size(); ++g) all_.emplace_back(g);
    mapping_.plans.assign(problem.plans.size(), 0);
    mapping_.stages.resize(problem.plans.size());
  }

  std::optional<MappingResult> run() {
    choose_plan(0);
    if (left_ == 0 || !found_) return std::nullopt;
    best_.analyses = evaluator_.analyses();
    return best_;
  }

 private:
  bool is_hopeless() {
    if (left_ == 0) return true;
    --left_;
    return found_ && evaluator_.load(mapping_).largest >= best_.value.utilisation;
  }

  void choose_plan(std::size_t group) {
    if (group == problem_.plans.size()) return choose_task();
    if (problem_.plans[group].empty()) return choose_plan(group + 1);
    for (std::size_t plan = 0; plan < problem_.plans[group].size() && left_ > 0; ++plan) {
      mapping_.plans[group] = plan;
      mapping_.stages[group].clear();
      choose_stage(group, {});
    }
    mapping_.stages[group].clear();
    mapping_.plans[group] = 0;
  }

  /// `given`: by stage of the plan, its processor.
  void choose_stage(std::size_t group, const std::vector<std::size_t>& given) {
    const deployment::Assignment& assignment =
        problem_.plans[group][mapping_.plans[group]].assignment;
    const std::vector<std::size_t> numbers = stages_of_tasks(assignment);
    const auto next = std::ranges::find(numbers, given.size());
    if (next == numbers.end()) {
      mapping_.stages[group].clear();
      for (const std::size_t number : numbers) mapping_.stages[group].push_back(given[number]);
      choose_plan(group + 1);
      mapping_.stages[group].clear();
      return;
    }
    const auto& task = assignment.tasks[static_cast<std::size_t>(next - numbers.begin())];
    const bool is_phase = task.step == deployment::Step::phase;
    for (const std::size_t processor : equal_processors(problem_.board, task.processor)) {
      if (is_phase && std::ranges::find(given, processor) != given.end()) continue;
      std::vector<std::size_t> more = given;
      more.push_back(processor);
      choose_stage(group, more);
    }
  }

  void choose_task() {
    if (mapping_.tasks.size() == problem_.tasks.size()) return look();
    const std::size_t count = problem_.tasks[mapping_.tasks.size()].places.size();
    for (std::size_t place = 0; place < count && left_ > 0; ++place) {
      mapping_.tasks.push_back(place);
      if (!is_hopeless()) choose_task();
      mapping_.tasks.pop_back();
    }
  }

  void look() {
    ++best_.evaluated;
    if (is_hopeless() || evaluator_.subnets_over(mapping_) > 0) return;
    const MappingValue value = evaluator_.value(mapping_);
    if (!value.feasible) return;
    found_ = true;
    best_.mapping = mapping_;
    best_.value = value;
  }

  const MappingProblem& problem_;
  std::size_t left_;
  MappingEvaluator evaluator_;
  std::vector<GroupId> all_;
  Mapping mapping_;
  MappingResult best_;
  bool found_ = false;
};

}  // namespace

double least_utilisation(const MappingProblem& problem) {
  double result = 0;
  for (const Scene& scene : scenes_of(problem.system))
    result = std::max(result, Relaxation(problem, scene).bound());
  return result;
}

std::optional<MappingResult> exhaustive_mapping(const MappingProblem& problem,
                                                std::size_t most_nodes) {
  return Exhaustive(problem, most_nodes).run();
}

}  // namespace millrace::explore
