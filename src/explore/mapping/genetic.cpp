#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <pagmo/algorithm.hpp>
#include <pagmo/population.hpp>
#include <pagmo/problem.hpp>
#include <string_view>
#include <unordered_map>

#include "base/random.h"
#include "explore/mapping/evaluator.h"
#include "explore/mapping/plan_period.h"
#include "explore/mapping/search.h"

namespace millrace::explore {
namespace {

using Genes = std::vector<Gene>;  // by layer

constexpr double never_reached = std::numeric_limits<double>::infinity();

/// As pagmo has them, and back.
pagmo::vector_double to_pagmo(const Genes& genes) { return {genes.begin(), genes.end()}; }
Genes from_pagmo(const pagmo::vector_double& genes) { return {genes.begin(), genes.end()}; }

/// What pagmo minimises. Copies share the evaluators, which nobody changes.
struct MappingProblem {
  std::shared_ptr<const Evaluator> evaluator;
  std::shared_ptr<const PlanPeriod> plan_period = {};
  Fitness kind = Fitness::bottleneck;

  /// The period is not asked for where the slowest stage already takes `too_much`.
  double fitness_of_genes(const Genes& genes, std::vector<double>& times, double too_much) const {
    times.resize(evaluator->processors());
    evaluator->processor_times(genes, times);
    const double fitness = fitness_of(kind, times);
    return kind == Fitness::period && fitness < too_much ? plan_period->of(genes) : fitness;
  }
  pagmo::vector_double fitness(const pagmo::vector_double& decision) const {
    std::vector<double> times;
    return {fitness_of_genes(from_pagmo(decision), times, never_reached)};
  }
  std::pair<pagmo::vector_double, pagmo::vector_double> get_bounds() const {
    return {pagmo::vector_double(evaluator->layers(), 0.0),
            pagmo::vector_double(evaluator->layers(),
                                 static_cast<double>(evaluator->processors() - 1))};
  }
  pagmo::vector_double::size_type get_nix() const { return evaluator->layers(); }
};

struct Individual {
  Genes genes;
  double fitness = 0;
};

/// The fitness of those that live, by their genes, which must stay where they are.
class Known {
 public:
  explicit Known(const std::vector<Individual>& living) {
    for (const Individual& each : living) fitness_.emplace(key_of(each.genes), each.fitness);
  }
  std::optional<double> fitness_of(const Genes& genes) const {
    const auto found = fitness_.find(key_of(genes));
    return found == fitness_.end() ? std::nullopt : std::optional(found->second);
  }
  /// Without copies.
  std::size_t size() const { return fitness_.size(); }

 private:
  static std::string_view key_of(const Genes& genes) {
    return {reinterpret_cast<const char*>(genes.data()), genes.size() * sizeof(Gene)};
  }
  std::unordered_map<std::string_view, double> fitness_;
};

/// The papers' operators. pagmo's own genetic algorithm mutates each gene with a probability, here
/// a share of the offspring gets one gene changed. Tournaments of two choose the parents, the best
/// of parents and offspring survive, each chromosome once: copies would soon fill the population.
class SingleGeneAlgorithm {
 public:
  SingleGeneAlgorithm() = default;
  SingleGeneAlgorithm(const GeneticOptions& options, std::shared_ptr<const Evaluator> evaluator,
                      int* epochs)
      : options_(options), evaluator_(std::move(evaluator)), epochs_(epochs) {}

  pagmo::population evolve(pagmo::population population) const {
    const auto* problem = population.get_problem().extract<MappingProblem>();
    Random random(options_.seed ^ 0x5eed0f9e4e5u);
    std::vector<Individual> living;
    for (std::size_t i = 0; i < population.size(); ++i)
      living.push_back({from_pagmo(population.get_x()[i]), population.get_f()[i][0]});
    sort(living);
    int unchanged = 0;
    for (*epochs_ = 0; *epochs_ < options_.epochs && unchanged < options_.patience; ++*epochs_) {
      const double before = living.front().fitness;
      next_generation(living, *problem, random);
      unchanged = living.front().fitness < before ? 0 : unchanged + 1;
      if (options_.progress) options_.progress(*epochs_ + 1, living.front().fitness);
    }
    for (std::size_t i = 0; i < living.size(); ++i)
      population.set_xf(i, to_pagmo(living[i].genes), {living[i].fitness});
    return population;
  }

 private:
  static void sort(std::vector<Individual>& individuals) {
    std::sort(individuals.begin(), individuals.end(), [](const auto& a, const auto& b) {
      return a.fitness != b.fitness ? a.fitness < b.fitness : a.genes < b.genes;
    });
  }

  void next_generation(std::vector<Individual>& living, const MappingProblem& problem,
                       Random& random) const {
    const std::size_t size = living.size();
    std::vector<double> times;
    const Known known(living);
    const double too_much = known.size() == size ? living.back().fitness : never_reached;
    for (std::size_t i = 0; i < size; ++i) {
      Individual child{child_of(living, size, random), 0};
      child.fitness = known.fitness_of(child.genes).value_or(-1);
      if (child.fitness < 0)
        child.fitness = problem.fitness_of_genes(child.genes, times, too_much);
      living.push_back(std::move(child));
    }
    sort(living);
    const auto copies = std::unique(living.begin(), living.end(), [](auto& a, auto& b) {
      return a.fitness == b.fitness && a.genes == b.genes;
    });
    const auto different = static_cast<std::size_t>(copies - living.begin());
    living.resize(std::min(size, different));
    for (std::size_t i = 0; living.size() < size; ++i) living.push_back(living[i]);
  }

  /// `size` parents come first; children made so far stand behind them.
  Genes child_of(const std::vector<Individual>& living, std::size_t size, Random& random) const {
    const auto parent = [&]() -> const Genes& {
      const std::size_t one = random.below(size), other = random.below(size);
      return living[std::min(one, other)].genes;  // sorted: the first is the fitter
    };
    Genes child = parent();
    if (random.unit() < options_.crossover) cross(child, parent(), random);
    if (random.unit() < options_.mutation) mutate(child, random);
    follow_leaders(child);
    return child;
  }

  /// Between two cuts, the child takes after the second parent.
  static void cross(Genes& child, const Genes& other, Random& random) {
    std::size_t begin = random.below(child.size() + 1), end = random.below(child.size() + 1);
    if (begin > end) std::swap(begin, end);
    std::copy(other.begin() + static_cast<std::ptrdiff_t>(begin),
              other.begin() + static_cast<std::ptrdiff_t>(end),
              child.begin() + static_cast<std::ptrdiff_t>(begin));
  }

  void mutate(Genes& genes, Random& random) const {
    if (evaluator_->processors() < 2) return;
    const std::size_t layer = evaluator_->leaders()[random.below(genes.size())];
    std::vector<std::size_t> others = evaluator_->able(layer);
    std::erase(others, std::size_t{genes[layer]});
    if (!others.empty()) genes[layer] = static_cast<Gene>(others[random.below(others.size())]);
  }

  /// Fused layers stay together: a chromosome that separates them is repaired.
  void follow_leaders(Genes& genes) const {
    const auto& leaders = evaluator_->leaders();
    for (std::size_t layer = 0; layer < genes.size(); ++layer) genes[layer] = genes[leaders[layer]];
  }

  GeneticOptions options_;
  std::shared_ptr<const Evaluator> evaluator_;
  int* epochs_ = nullptr;  // of the caller
};

Genes random_genes(const Evaluator& evaluator, Random& random) {
  Genes genes;
  for (std::size_t layer = 0; layer < evaluator.layers(); ++layer) {
    const std::vector<std::size_t>& able = evaluator.able(layer);
    genes.push_back(static_cast<Gene>(able[random.below(able.size())]));
  }
  return genes;
}

/// Contiguous parts between random cuts, on processors in random order; a layer that cannot run
/// where it falls is thrown at random.
Genes contiguous_genes(const Evaluator& evaluator, Random& random) {
  std::vector<std::size_t> order(evaluator.processors()), cuts;
  std::iota(order.begin(), order.end(), 0u);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  for (std::size_t i = 1; i < order.size(); ++i)
    cuts.push_back(random.below(evaluator.layers() + 1));
  std::sort(cuts.begin(), cuts.end());
  Genes genes;
  for (std::size_t layer = 0; layer < evaluator.layers(); ++layer) {
    const auto part = std::upper_bound(cuts.begin(), cuts.end(), layer) - cuts.begin();
    const std::vector<std::size_t>& able = evaluator.able(layer);
    std::size_t gene = order[static_cast<std::size_t>(part)];
    if (!std::binary_search(able.begin(), able.end(), gene)) gene = able[random.below(able.size())];
    genes.push_back(static_cast<Gene>(gene));
  }
  return genes;
}

pagmo::population first_generation(const pagmo::problem& problem, const Evaluator& evaluator,
                                   const GeneticOptions& options) {
  Random random(options.seed);
  pagmo::population population(problem, 0, static_cast<unsigned>(options.seed));
  for (int i = 0; i < options.population; ++i) {
    const bool contiguous = random.unit() < options.contiguous;
    Genes genes =
        contiguous ? contiguous_genes(evaluator, random) : random_genes(evaluator, random);
    for (std::size_t layer = 0; layer < genes.size(); ++layer)
      genes[layer] = genes[evaluator.leaders()[layer]];
    population.push_back(to_pagmo(genes));
  }
  return population;
}

}  // namespace

SearchResult genetic(const Problem& problem, const GeneticOptions& options) {
  SearchResult result;
  result.method = "genetic";
  if (problem.layers == 0) return result;
  const auto evaluator = std::make_shared<const Evaluator>(problem);
  const pagmo::algorithm algorithm(SingleGeneAlgorithm(options, evaluator, &result.epochs));
  const auto plan_period = std::make_shared<const PlanPeriod>(problem, options.aim.build);
  const MappingProblem minimised{evaluator, plan_period, options.aim.fitness};
  const pagmo::population last =
      algorithm.evolve(first_generation(pagmo::problem(minimised), *evaluator, options));
  for (double gene : last.get_x()[last.best_idx()])
    result.mapping.processors.emplace_back(static_cast<std::size_t>(gene));
  rate(result, problem, options.aim);
  return result;
}

}  // namespace millrace::explore
