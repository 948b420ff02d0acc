#include <algorithm>
#include <limits>
#include <numeric>

#include "explore/evolution/lexicase.h"
#include "explore/system/evaluator.h"
#include "explore/system/placement.h"

namespace millrace::explore {
namespace {

constexpr double misses = 1e9;  // milliwatts: no plan draws so much
constexpr double slack = 1e-6;  // of equal power, what is farther from its deadlines is better

Genome genome_of(const Combination& combination) {
  return {combination.begin(), combination.end()};
}

/// The thesis gives all that is infeasible one value; here, what is nearer to its deadlines is
/// better, so that the search finds its way.
std::vector<double> cases_of(const CombinationProblem& problem, const Combined& found) {
  std::vector<double> cases;
  for (std::size_t s = 0; s < found.scenes.size(); ++s)
    cases.push_back(found.feasible ? problem.scenes[s].share * found.scenes[s].power_mw +
                                         slack * found.scenes[s].demand
                                   : misses * std::max(1.0, found.scenes[s].demand));
  return cases;
}

class Combining {
 public:
  Combining(const CombinationProblem& problem, const CombineOptions& options)
      : problem_(problem), options_(options), groups_(groups_of(problem)), evaluator_(problem) {
    best_.power_mw = std::numeric_limits<double>::infinity();
  }

  Combined run() {
    Genome sizes;
    for (const auto& plans : problem_.plans)
      sizes.push_back(static_cast<std::uint32_t>(plans.size()));
    LexicaseOptions lexicase{options_.population, options_.generations, options_.patience,
                             options_.seed};
    for (const Combination& start : options_.start) lexicase.start.push_back(genome_of(start));
    lexicase.stop = [this](std::size_t generation) { return stops(generation); };
    const LexicaseResult result = lexicase_search(
        sizes, [this](const Genome& genome) { return ask(genome); }, lexicase);
    best_.evaluated = result.evaluated;
    best_.generations = result.generations;
    evaluator_.note_clock_searches(best_);
    return std::move(best_);
  }

 private:
  bool stops(std::size_t generation) {
    if (options_.progress)
      options_.progress(static_cast<double>(generation) / static_cast<double>(options_.generations),
                        best_.power_mw);
    return (options_.first_feasible && best_.feasible) || (options_.stop && options_.stop());
  }

  std::vector<double> ask(const Genome& genome) {
    const Combination combination(genome.begin(), genome.end());
    const Placement placement = place_stages(problem_, combination);
    const std::size_t over = subnets_too_many(problem_, groups_, combination, placement);
    if (over > 0)  // fewer are better
      return std::vector<double>(problem_.scenes.size(),
                                 misses * misses * static_cast<double>(over));
    if (options_.first_feasible && best_.feasible) return best_cases_;
    Combined found = evaluator_.assess(combination, placement, !options_.first_feasible);
    std::vector<double> cases = cases_of(problem_, found);
    const double sum = std::accumulate(cases.begin(), cases.end(), 0.0);
    if (sum < least_) {
      least_ = sum;
      best_ = std::move(found);
      best_cases_ = cases;
    }
    return cases;
  }

  const CombinationProblem& problem_;
  const CombineOptions& options_;
  const std::vector<system::GroupId> groups_;
  CombinationEvaluator evaluator_;
  Combined best_;
  std::vector<double> best_cases_;
  double least_ = std::numeric_limits<double>::infinity();
};

}  // namespace

Combined genetic_combination(const CombinationProblem& problem, const CombineOptions& options) {
  return Combining(problem, options).run();
}

}  // namespace millrace::explore
