#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <span>

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
        sizes, [this](std::span<const Genome> genomes) { return ask(genomes); }, lexicase);
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

  std::vector<std::vector<double>> ask(std::span<const Genome> genomes) {
    std::vector<std::vector<double>> result;
    if (!are_several(options_.ranks)) {
      for (const Genome& genome : genomes) result.push_back(ask(genome));
      return result;
    }
    const std::vector<Numbers> all = shared_out(
        options_.ranks, genomes.size(), [&](std::size_t g) { return assessed(genomes[g]).cases; });
    for (std::size_t g = 0; g < genomes.size(); ++g) result.push_back(noted(genomes[g], all[g]));
    return result;
  }

  struct Assessed {
    std::vector<double> cases;
    std::optional<Combined> found = {};  // nothing where it was not looked at closely
  };
  Assessed assessed(const Genome& genome) {
    const Combination combination(genome.begin(), genome.end());
    const Placement placement = place_stages(problem_, combination);
    const std::size_t over = subnets_too_many(problem_, groups_, combination, placement);
    if (over > 0)  // fewer are better
      return {
          std::vector<double>(problem_.scenes.size(), misses * misses * static_cast<double>(over))};
    if (options_.first_feasible && best_.feasible) return {best_cases_};
    Combined found = evaluator_.assess(combination, placement, !options_.first_feasible);
    std::vector<double> cases = cases_of(problem_, found);
    return {std::move(cases), std::move(found)};
  }

  std::vector<double> ask(const Genome& genome) {
    Assessed own = assessed(genome);
    if (own.found) keep_if_best(own.cases, std::move(*own.found));
    return own.cases;
  }

  /// What another rank computed; what might be the best is computed here once more.
  std::vector<double> noted(const Genome& genome, const std::vector<double>& cases) {
    const bool is_over = !cases.empty() && cases.front() >= misses * misses;
    if (is_over) return cases;
    if (options_.first_feasible && best_.feasible) return best_cases_;
    if (sum_of(cases) < least_) return ask(genome);
    return cases;
  }

  static double sum_of(const std::vector<double>& cases) {
    return std::accumulate(cases.begin(), cases.end(), 0.0);
  }

  void keep_if_best(const std::vector<double>& cases, Combined found) {
    const double sum = sum_of(cases);
    if (sum >= least_) return;
    least_ = sum;
    best_ = std::move(found);
    best_cases_ = cases;
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
