#include <algorithm>
#include <limits>
#include <numeric>
#include <queue>
#include <set>
#include <utility>

#include "explore/system/evaluator.h"
#include "explore/system/placement.h"
#include "explore/system/scene_system.h"

namespace millrace::explore {
namespace {

constexpr double deeper = 1e4;  // more than any demand: goes down first
constexpr double unreachable = std::numeric_limits<double>::infinity();
constexpr std::size_t most_tries_for_any = 64;  // of cores for certain plans

/// A group's plan with the processors of its tasks.
struct PlacedPlan {
  std::size_t plan = 0;
  std::vector<std::size_t> processors;
};

/// Plans of some groups, in the order of the search.
struct Node {
  double rank = 0;   // the smallest is gone on from
  double bound = 0;  // of the power of all that it leads to
  std::size_t depth = 0;
  Combination combination;
  Placement placement;                                                   // empty: undecided
  bool operator<(const Node& other) const {  // for a heap
    return std::pair(rank, other.depth) > std::pair(other.rank, depth);
  }
};

struct NodeBound {
  double power = 0, demand = 0;
};

bool is_core(const board::Board& board, const std::string& processor) {
  const auto found = std::ranges::find(board.processors, processor, &board::Processor::name);
  return found->kind == board::ProcessorKind::cpu;
}

/// What a network has on two processors stays on two: else it would be another plan.
bool stay_apart(const deployment::Task& a, const deployment::Task& b) {
  return a.step == deployment::Step::phase && b.step == a.step && a.processor != b.processor;
}

/// The choices of one plan, task by task.
struct Placing {
  const board::Board& board;
  const deployment::Assignment& assignment;
  std::vector<std::size_t> stages;  // by task
  PlacedPlan placed = {};
  std::set<std::size_t> used = {};  // by this plan and the others

  void place(std::vector<PlacedPlan>& result) {
    const std::size_t task = placed.processors.size();
    if (task == stages.size()) {
      result.push_back(placed);
      return;
    }
    const auto first = std::ranges::find(stages, stages[task]) - stages.begin();
    if (static_cast<std::size_t>(first) < task)
      return go_on(placed.processors[static_cast<std::size_t>(first)], result);
    const std::string& name = assignment.tasks[task].processor;
    const std::vector<std::size_t> equal = equal_processors(board, name);
    if (is_core(board, name))
      return go_on(core_of_its_own(board, equal.front(), stages[task]), result);
    bool was_new = false;
    for (const std::size_t processor : equal) {
      if (is_taken(task, processor)) continue;
      const bool is_new = !used.contains(processor);
      if (is_new && was_new) continue;
      was_new = was_new || is_new;
      go_on(processor, result);
    }
  }

 private:
  void go_on(std::size_t processor, std::vector<PlacedPlan>& result) {
    const bool was_new = used.insert(processor).second;
    placed.processors.push_back(processor);
    place(result);
    placed.processors.pop_back();
    if (was_new) used.erase(processor);
  }
  bool is_taken(std::size_t task, std::size_t processor) const {
    for (std::size_t t = 0; t < task; ++t)
      if (placed.processors[t] == processor &&
          stay_apart(assignment.tasks[t], assignment.tasks[task]))
        return true;
    return false;
  }
};

/// A stage or step on cores, which still has one of its own.
struct StageOnCores {
  std::size_t group = 0, own_core = 0;
  const deployment::Task* first = nullptr;
  std::vector<std::size_t> tasks = {};
};

std::vector<StageOnCores> stages_on_cores(const CombinationProblem& problem,
                                          const std::vector<system::GroupId>& order,
                                          const Combination& combination,
                                          const Placement& placement) {
  std::vector<StageOnCores> result;
  for (const system::GroupId group : order) {
    const auto& tasks =
        problem.plans[group.index][combination[group.index]].assignment.tasks;
    const std::vector<std::size_t>& placed = placement[group.index];
    for (std::size_t t = 0; t < placed.size(); ++t) {
      if (processor_like(problem.board, placed[t]) == placed[t]) continue;
      const auto known = std::ranges::find_if(result, [&](const StageOnCores& stage) {
        return stage.group == group.index && stage.own_core == placed[t];
      });
      if (known != result.end())
        known->tasks.push_back(t);
      else
        result.push_back({group.index, placed[t], &tasks[t], {t}});
    }
  }
  return result;
}

double least_of(const std::vector<double>& costs) { return *std::ranges::min_element(costs); }

class BranchAndBound {
 public:
  BranchAndBound(const CombinationProblem& problem, const CombineOptions& options)
      : problem_(problem), options_(options), evaluator_(problem) {
    order_groups();
    find_least_powers();
  }

  Combined run(const Combined* known) {
    if (known != nullptr && known->feasible) best_ = *known;
    if (best_.scenes.empty()) best_.power_mw = unreachable;
    Node root;
    root.combination.assign(problem_.plans.size(), 0);
    root.placement.resize(problem_.plans.size());
    root.bound = bound_of(root).power;
    open_.push(root);
    while (!open_.empty() && !is_done()) {
      const Node node = open_.top();
      open_.pop();
      branch(node);
      if (options_.progress)
        options_.progress(static_cast<double>(nodes_) / static_cast<double>(options_.most_nodes),
                          best_.power_mw);
    }
    best_.evaluated = nodes_;
    const double left = open_.empty() ? best_.power_mw : open_.top().bound;
    best_.bound_mw = std::min({left, passed_over_, best_.power_mw});
    return std::move(best_);
  }

 private:
  bool is_done() const {
    if (options_.first_feasible && best_.feasible) return true;
    if (nodes_ >= options_.most_nodes || (options_.stop && options_.stop())) return true;
    return !options_.first_feasible && open_.top().bound >= best_.power_mw;
  }

  /// Orders groups: those that run together with many others first.
  void order_groups() {
    std::vector<std::size_t> companions(problem_.plans.size(), 0);
    for (const Scene& scene : problem_.scenes)
      for (const system::GroupId group : scene.groups)
        companions[group.index] += scene.groups.size();
    for (std::size_t g = 0; g < problem_.plans.size(); ++g)
      if (companions[g] > 0) order_.emplace_back(g);
    std::ranges::stable_sort(order_, std::greater{},
                             [&](system::GroupId group) { return companions[group.index]; });
  }

  /// What a group adds to a scene at least, and what a scene draws without any.
  void find_least_powers() {
    const Combination none(problem_.plans.size(), 0);
    for (const auto& costs : powers_of(problem_, {{}, 1}, none)) idle_ += least_power(costs);
    for (std::size_t g = 0; g < problem_.plans.size(); ++g) {
      double least = unreachable;
      for (std::size_t plan = 0; plan < problem_.plans[g].size(); ++plan)
        least = std::min(least, added_power(g, plan));
      least_added_.push_back(least);
    }
  }
  double added_power(std::size_t group, std::size_t plan) const {
    Combination combination(problem_.plans.size(), 0);
    combination[group] = plan;
    const auto with = powers_of(problem_, {{system::GroupId(group)}, 1}, combination);
    const auto without = powers_of(problem_, {{}, 1}, combination);
    double sum = 0;
    for (std::size_t d = 0; d < with.size(); ++d) {
      std::vector<double> added = with[d];
      for (std::size_t c = 0; c < added.size(); ++c) added[c] -= without[d][c];
      sum += least_power(added);
    }
    return sum;
  }
  double least_power(const std::vector<double>& costs) const {
    return problem_.clocks == ClockSearch::none ? costs.back() : least_of(costs);
  }

  void branch(const Node& node) {
    if (node.depth == order_.size()) return finish(node);
    const std::size_t group = order_[node.depth].index;
    for (const PlacedPlan& placed : placed_plans(node, group)) {
      Node next = node;
      ++next.depth;
      next.combination[group] = placed.plan;
      next.placement[group] = placed.processors;
      ++nodes_;
      if (subnets_too_many(problem_, decided(next, order_), next.combination, next.placement) > 0)
        continue;
      const NodeBound bound = bound_of(next);
      if (bound.power >= best_.power_mw) continue;
      next.bound = std::max(node.bound, bound.power);
      next.rank = options_.first_feasible ? bound.demand - deeper * static_cast<double>(next.depth)
                                          : next.bound;
      open_.push(std::move(next));
    }
  }

  /// On real cores: each choice that is not like another, until one is as good as the bound.
  void finish(const Node& node) {
    CoreSearch search{node, stages_on_cores(problem_, order_, node.combination, node.placement)};
    choose_cores(search, 0);
    if (search.ended_early) passed_over_ = std::min(passed_over_, node.bound);
  }

  struct CoreSearch {
    Node node;
    std::vector<StageOnCores> stages;
    std::size_t tries = 0;
    bool ended_early = false, found_bound = false;
  };

  void choose_cores(CoreSearch& search, std::size_t index) {
    if (index == search.stages.size()) return finish_on_cores(search);
    const StageOnCores& stage = search.stages[index];
    std::vector<std::size_t>& placed = search.node.placement[stage.group];
    for (const std::size_t core : cores_for(search, stage)) {
      if (has_no_time_left(search)) return;
      for (const std::size_t task : stage.tasks) placed[task] = core;
      ++nodes_, ++search.tries;
      if (bound_of(search.node).power < best_.power_mw) choose_cores(search, index + 1);
      for (const std::size_t task : stage.tasks) placed[task] = stage.own_core;
      if (search.found_bound) return;
    }
  }

  bool has_no_time_left(CoreSearch& search) const {
    const bool is_late = nodes_ >= options_.most_nodes || (options_.stop && options_.stop());
    if (is_late || (options_.first_feasible && search.tries >= most_tries_for_any))
      search.ended_early = true;
    return search.ended_early;
  }

  void finish_on_cores(CoreSearch& search) {
    const Node& node = search.node;
    Combined found =
        evaluator_.assess(node.combination, node.placement, !options_.first_feasible);
    if (!found.feasible) return;
    search.found_bound = options_.first_feasible || found.power_mw <= node.bound * (1 + 1e-12);
    if (options_.first_feasible || found.power_mw < best_.power_mw) best_ = std::move(found);
  }

  /// The first that nobody uses, for such cores are alike, then those in use.
  std::vector<std::size_t> cores_for(const CoreSearch& search, const StageOnCores& stage) const {
    std::set<std::size_t> used, taken;
    for (const auto& processors : search.node.placement)
      used.insert(processors.begin(), processors.end());
    for (const StageOnCores& other : search.stages)
      if (other.group == stage.group && stay_apart(*other.first, *stage.first))
        taken.insert(search.node.placement[other.group][other.tasks.front()]);
    std::vector<std::size_t> unused, result;
    const std::size_t like = processor_like(problem_.board, stage.own_core);
    for (const std::size_t core :
         equal_processors(problem_.board, problem_.board.processors[like].name))
      if (!used.contains(core))
        unused.push_back(core);
      else if (!taken.contains(core))
        result.push_back(core);
    if (!unused.empty()) result.insert(result.begin(), unused.front());
    return result;
  }

  std::vector<system::GroupId> decided(const Node& node,
                                       const std::vector<system::GroupId>& groups) const {
    std::vector<system::GroupId> result;
    for (const system::GroupId group : groups)
      if (!node.placement[group.index].empty()) result.push_back(group);
    return result;
  }

  NodeBound bound_of(const Node& node) {
    NodeBound bound;
    for (std::size_t s = 0; s < problem_.scenes.size(); ++s) {
      const Scene& scene = problem_.scenes[s];
      const auto groups = decided(node, scene.groups);
      double power = idle_;
      if (!groups.empty()) {
        const SceneResult& found = evaluator_.scene({s, groups}, node.combination, node.placement,
                                                    !options_.first_feasible);
        if (!found.schedulable) return {unreachable, unreachable};
        power = options_.first_feasible ? 0 : found.power_mw;
        bound.demand = std::max(bound.demand, found.demand);
      }
      for (const system::GroupId group : scene.groups)
        if (std::ranges::find(groups, group) == groups.end()) power += least_added_[group.index];
      bound.power += scene.share * power;
    }
    return bound;
  }

  /// A plan's stages on each choice of equal accelerators; of those that nobody uses yet, only the
  /// first counts, for they are alike. Each stage on cores has one of its own.
  std::vector<PlacedPlan> placed_plans(const Node& node, std::size_t group) const {
    std::vector<PlacedPlan> result;
    for (std::size_t plan = 0; plan < problem_.plans[group].size(); ++plan) {
      const deployment::Assignment& assignment = problem_.plans[group][plan].assignment;
      Placing placing{.board = problem_.board,
                      .assignment = assignment,
                      .stages = stages_of_tasks(assignment),
                      .placed = {plan, {}}};
      for (const auto& processors : node.placement)
        placing.used.insert(processors.begin(), processors.end());
      placing.place(result);
    }
    return result;
  }

  const CombinationProblem& problem_;
  const CombineOptions& options_;
  CombinationEvaluator evaluator_;
  std::vector<system::GroupId> order_;
  std::vector<double> least_added_;
  double idle_ = 0;
  double passed_over_ = unreachable;  // the least bound of what was not placed as well as that
  std::priority_queue<Node> open_;
  std::size_t nodes_ = 0;
  Combined best_;
};

}  // namespace

Combined exact_combination(const CombinationProblem& problem, const CombineOptions& options,
                           const Combined* known) {
  return BranchAndBound(problem, options).run(known);
}

}  // namespace millrace::explore
