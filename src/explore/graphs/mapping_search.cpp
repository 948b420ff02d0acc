#include "explore/graphs/mapping_search.h"

#include <algorithm>
#include <array>
#include <map>

#include "explore/evolution/lexicase.h"

namespace millrace::explore {
namespace {

constexpr double infeasible = 100;  // more than any utilisation that fits
constexpr std::size_t seeds_of_entire = 16;
/// Only where no deadlines hold are there so many: some seconds on one core.
constexpr std::size_t most_analyses = 5000;

/// What one search chooses: genes for networks, then for tasks.
struct Choices {
  std::vector<std::size_t> networks;      // groups whose plan is chosen
  std::vector<std::size_t> tasks;         // of the problem, whose place is chosen
  std::optional<Combination> fixed = {};  // plans that are chosen already
  bool by_heuristic = false;              // tasks are placed by Algorithm 7
};

std::vector<std::size_t> groups_with_networks(const MappingProblem& problem) {
  std::vector<std::size_t> result;
  for (std::size_t g = 0; g < problem.plans.size(); ++g)
    if (!problem.plans[g].empty()) result.push_back(g);
  return result;
}

std::vector<std::size_t> all_tasks(const MappingProblem& problem) {
  std::vector<std::size_t> result(problem.tasks.size());
  for (std::size_t t = 0; t < result.size(); ++t) result[t] = t;
  return result;
}

class MappingGenetic {
 public:
  MappingGenetic(const MappingProblem& problem, const CombineOptions& options, Choices choices)
      : problem_(problem), options_(options), choices_(std::move(choices)), evaluator_(problem) {}

  /// Only what has a smaller largest utilisation is analysed from here on, if its deadlines hold.
  void know(const Mapping& mapping) {
    if (evaluator_.subnets_over(mapping) > 0) return;
    const MappingValue value = evaluator_.value(mapping);
    keep_if_better(value.feasible ? value.utilisation : infeasible + value.demand, mapping, value);
  }

  MappingResult run(const std::vector<Mapping>& start) {
    LexicaseOptions lexicase{options_.population, options_.generations, options_.patience,
                             options_.seed};
    for (const Mapping& mapping : start) lexicase.start.push_back(genome_of(mapping));
    lexicase.stop = [this](std::size_t generation) { return stops(generation); };
    const Genome all = sizes();
    if (all.empty()) {
      ask({});
      best_.evaluated = 1;
    } else {
      const LexicaseResult result = lexicase_search(
          all, [this](const Genome& genome) { return ask(genome); }, lexicase);
      best_.evaluated = result.evaluated;
      best_.generations = result.generations;
      survivors_ = result.population;
    }
    best_.analyses = evaluator_.analyses();
    return best_;
  }

  /// The best that are left, the best one first.
  std::vector<Mapping> best_mappings(std::size_t most) {
    std::vector<Mapping> result{best_.mapping};
    for (const Genome& genome : survivors_) {
      if (result.size() >= most) break;
      Mapping mapping = decoded(genome);
      if (std::ranges::find(result, mapping) == result.end()) result.push_back(std::move(mapping));
    }
    return result;
  }

 private:
  Genome sizes() const {
    Genome result;
    for (const std::size_t group : choices_.networks)
      result.push_back(static_cast<std::uint32_t>(problem_.plans[group].size()));
    for (const std::size_t task : choices_.tasks)
      result.push_back(static_cast<std::uint32_t>(problem_.tasks[task].places.size()));
    return result;
  }

  Genome genome_of(const Mapping& mapping) const {
    Genome result;
    for (const std::size_t group : choices_.networks)
      result.push_back(static_cast<std::uint32_t>(mapping.plans[group]));
    for (const std::size_t task : choices_.tasks)
      result.push_back(static_cast<std::uint32_t>(mapping.tasks[task]));
    return result;
  }

  Mapping decoded(const Genome& genome) {
    Mapping mapping;
    mapping.plans = choices_.fixed.value_or(Combination(problem_.plans.size(), 0));
    std::size_t gene = 0;
    for (const std::size_t group : choices_.networks) mapping.plans[group] = genome[gene++];
    auto [stages, is_new] = stages_.try_emplace(mapping.plans);
    if (is_new) stages->second = place_networks(problem_, mapping.plans);
    mapping.stages = stages->second;
    if (choices_.by_heuristic) {
      map_tasks(problem_, mapping);
      return mapping;
    }
    for (std::size_t t = 0; t < choices_.tasks.size(); ++t) mapping.tasks.push_back(genome[gene++]);
    return mapping;
  }

  bool stops(std::size_t generation) const {
    if (options_.progress)
      options_.progress(static_cast<double>(generation) / static_cast<double>(options_.generations),
                        best_.value.feasible ? best_.value.utilisation : infeasible);
    return evaluator_.analyses() >= most_analyses || (options_.stop && options_.stop());
  }

  /// Equation 5.5, and how evenly the work is shared out: it also tells apart what has the same
  /// largest utilisation. Only what may become the best is worth an analysis.
  std::vector<double> ask(const Genome& genome) {
    const Mapping mapping = decoded(genome);
    if (const std::size_t over = evaluator_.subnets_over(mapping); over > 0) {
      const double first = infeasible * infeasible * static_cast<double>(over);
      keep_if_better(first, mapping, {});
      return std::vector<double>(3, first);
    }
    const MappingLoad load = evaluator_.load(mapping);
    if (best_.value.feasible && load.largest >= best_.value.utilisation)
      return {load.largest, infeasible, load.squares};
    const MappingValue value = evaluator_.value(mapping);
    const double first = value.feasible ? value.utilisation : infeasible + value.demand;
    keep_if_better(first, mapping, value);
    return {first, value.demand, load.squares};
  }

  void keep_if_better(double first, const Mapping& mapping, const MappingValue& value) {
    if (best_first_ >= 0 && first >= best_first_) return;
    best_first_ = first;
    best_.mapping = mapping;
    best_.value = value;
  }

  const MappingProblem& problem_;
  const CombineOptions& options_;
  const Choices choices_;
  MappingEvaluator evaluator_;
  std::map<Combination, Placement> stages_;
  std::vector<Genome> survivors_;
  MappingResult best_;
  double best_first_ = -1;
};

/// The same groups without the tasks of graphs, and with no group that has only those.
MappingProblem without_tasks(const MappingProblem& problem, const system::System& networks_only) {
  MappingProblem result{networks_only, problem.board, problem.plans, {}, {}, problem.priorities};
  result.jobs.resize(problem.plans.size());
  result.analysis = problem.analysis;
  return result;
}

system::System networks_only(const MappingProblem& problem) {
  system::System system = problem.system;
  for (system::Group& group : system.groups) group.graph = {};
  for (system::Scenario& scenario : system.scenarios)
    std::erase_if(scenario.groups,
                  [&](const system::GroupId group) { return problem.plans[group.index].empty(); });
  return system;
}

}  // namespace

MappingResult heuristic_mapping(const MappingProblem& problem, const CombineOptions& options) {
  return MappingGenetic(problem, options, {groups_with_networks(problem), {}, {}, true}).run({});
}

MappingResult entire_mapping(const MappingProblem& problem, const CombineOptions& options,
                             bool seeded) {
  std::vector<Mapping> start;
  MappingResult before;
  MappingGenetic entire(problem, options, {groups_with_networks(problem), all_tasks(problem)});
  if (seeded) {
    MappingGenetic heuristic(problem, options, {groups_with_networks(problem), {}, {}, true});
    const Mapping by_groups = mapping_by_groups(problem);
    heuristic.know(by_groups);
    before = heuristic.run({});
    start = heuristic.best_mappings(seeds_of_entire);
    if (std::ranges::find(start, by_groups) == start.end()) start.push_back(by_groups);
    entire.know(start.front());
  }
  MappingResult result = entire.run(start);
  result.evaluated += before.evaluated;
  result.generations += before.generations;
  result.analyses += before.analyses;
  return result;
}

MappingResult best_entire_mapping(const MappingProblem& problem, const CombineOptions& options) {
  MappingResult best = entire_mapping(problem, options);
  const MappingResult other = entire_mapping(problem, options, false);
  const MappingResult before = best;
  const bool is_better = other.value.feasible &&
                         (!best.value.feasible || other.value.utilisation < best.value.utilisation);
  if (is_better) best = other;
  best.evaluated = before.evaluated + other.evaluated;
  best.generations = before.generations + other.generations;
  best.analyses = before.analyses + other.analyses;
  return best;
}

MappingResult sequential_mapping(const MappingProblem& problem, const CombineOptions& options) {
  const system::System networks = networks_only(problem);
  const MappingProblem alone = without_tasks(problem, networks);
  const MappingResult first =
      MappingGenetic(alone, options, {groups_with_networks(problem), {}}).run({});
  MappingResult result =
      MappingGenetic(problem, options, {{}, all_tasks(problem), first.mapping.plans}).run({});
  result.evaluated += first.evaluated;
  result.generations += first.generations;
  result.analyses += first.analyses;
  return result;
}

std::span<const MappingMethod> mapping_methods() {
  static constexpr std::array<MappingMethod, 4> methods{
      {{"entire",
        "plans of networks and places of tasks together: once begun with 'heuristic', once at "
        "random",
        best_entire_mapping},
       {"entire-unseeded", "the same, begun at random only",
        [](const MappingProblem& problem, const CombineOptions& options) {
          return entire_mapping(problem, options, false);
        }},
       {"heuristic", "plans of networks; tasks by Algorithm 7", heuristic_mapping},
       {"baseline", "networks first, then tasks", sequential_mapping}}};
  return methods;
}

const MappingMethod* mapping_method_named(const std::string& name) {
  const auto found = std::ranges::find(mapping_methods(), name, &MappingMethod::name);
  return found == mapping_methods().end() ? nullptr : &*found;
}

}  // namespace millrace::explore
