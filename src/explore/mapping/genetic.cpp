#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "base/random.h"
#include "explore/mapping/board_energy.h"
#include "explore/mapping/evaluator.h"
#include "explore/mapping/plan_period.h"
#include "explore/mapping/search.h"

namespace millrace::explore {
namespace {

using Genes = std::vector<Gene>;  // by layer

constexpr double never_reached = std::numeric_limits<double>::infinity();
constexpr double unknown = -1;  // no fitness is so small

/// What the search minimises.
class MappingCost {
 public:
  MappingCost(const Problem& problem, const Aim& aim)
      : problem_(problem),
        evaluator_(problem),
        plan_period_(problem, aim.build),
        kind_(aim.fitness) {}
  const Evaluator& evaluator() const { return evaluator_; }

  /// The period is not asked for where the slowest stage already takes `too_much`.
  double of(const Genes& genes, double too_much) const {
    std::vector<double> times(evaluator_.resources());
    evaluator_.processor_times(genes, times);
    if (kind_ == Fitness::board_energy) return largest_energy(problem_, genes, times);
    const double fitness = fitness_of(kind_, times);
    return kind_ == Fitness::period && fitness < too_much ? plan_period_.of(genes) : fitness;
  }

 private:
  const Problem& problem_;
  Evaluator evaluator_;
  PlanPeriod plan_period_;
  Fitness kind_;
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

/// Fused layers stay together: a chromosome that separates them is repaired.
void follow_leaders(Genes& genes, const Evaluator& evaluator) {
  const auto& leaders = evaluator.leaders();
  for (std::size_t layer = 0; layer < genes.size(); ++layer) genes[layer] = genes[leaders[layer]];
}

/// The papers' operators: a share of the offspring gets one gene changed, where Sga mutates each
/// gene with a probability. Tournaments of two choose the parents, the best
/// of parents and offspring survive, each chromosome once: copies would soon fill the population.
class SingleGeneAlgorithm {
 public:
  SingleGeneAlgorithm(const GeneticOptions& options, const MappingCost& cost)
      : options_(options), cost_(cost), random_(options.seed ^ 0x5eed0f9e4e5u) {}

  /// The fittest; how many epochs it took.
  std::pair<Genes, int> evolved(const std::vector<Genes>& first) {
    for (const Genes& genes : first) living_.push_back({genes, unknown});
    rate(0, never_reached);
    sort();
    int epoch = 0;
    for (int unchanged = 0; epoch < options_.epochs && unchanged < options_.patience; ++epoch) {
      const double before = living_.front().fitness;
      next_generation();
      unchanged = living_.front().fitness < before ? 0 : unchanged + 1;
      if (options_.progress) options_.progress(epoch + 1, living_.front().fitness);
    }
    return {living_.front().genes, epoch};
  }

 private:
  void sort() {
    std::ranges::sort(living_, [](const Individual& a, const Individual& b) {
      return a.fitness != b.fitness ? a.fitness < b.fitness : a.genes < b.genes;
    });
  }

  void next_generation() {
    const std::size_t size = living_.size();
    const Known known(living_);
    const double too_much = known.size() == size ? living_.back().fitness : never_reached;
    for (std::size_t i = 0; i < size; ++i) {
      Individual child{child_of(size), unknown};
      child.fitness = known.fitness_of(child.genes).value_or(unknown);
      living_.push_back(std::move(child));
    }
    rate(size, too_much);
    sort();
    const auto is_copy = [](const auto& a, const auto& b) {
      return a.fitness == b.fitness && a.genes == b.genes;
    };
    living_.erase(std::unique(living_.begin(), living_.end(), is_copy), living_.end());
    living_.resize(std::min(size, living_.size()));
    for (std::size_t i = 0; living_.size() < size; ++i) living_.push_back(living_[i]);
  }

  /// From `begin` on, those whose fitness is unknown.
  void rate(std::size_t begin, double too_much) {
    std::vector<std::size_t> wanted;
    for (std::size_t i = begin; i < living_.size(); ++i)
      if (living_[i].fitness == unknown) wanted.push_back(i);
    const auto cost = [&](std::size_t w) {
      return Numbers{cost_.of(living_[wanted[w]].genes, too_much)};
    };
    const std::vector<Numbers> costs = shared_out(options_.ranks, wanted.size(), cost);
    for (std::size_t w = 0; w < wanted.size(); ++w) living_[wanted[w]].fitness = costs[w].front();
  }

  /// `size` parents come first; children made so far stand behind them.
  Genes child_of(std::size_t size) {
    const auto parent = [&]() -> const Genes& {
      const std::size_t one = random_.below(size), other = random_.below(size);
      return living_[std::min(one, other)].genes;  // sorted: the first is the fitter
    };
    Genes child = parent();
    if (random_.unit() < options_.crossover) cross(child, parent());
    if (random_.unit() < options_.mutation) mutate(child);
    follow_leaders(child, cost_.evaluator());
    return child;
  }

  /// Between two cuts, the child takes after the second parent.
  void cross(Genes& child, const Genes& other) {
    std::size_t begin = random_.below(child.size() + 1), end = random_.below(child.size() + 1);
    if (begin > end) std::swap(begin, end);
    std::copy(other.begin() + static_cast<std::ptrdiff_t>(begin),
              other.begin() + static_cast<std::ptrdiff_t>(end),
              child.begin() + static_cast<std::ptrdiff_t>(begin));
  }

  void mutate(Genes& genes) {
    const Evaluator& evaluator = cost_.evaluator();
    if (evaluator.processors() < 2) return;
    const std::size_t layer = evaluator.leaders()[random_.below(genes.size())];
    std::vector<std::size_t> others = evaluator.able(layer);
    std::erase(others, std::size_t{genes[layer]});
    if (!others.empty()) genes[layer] = static_cast<Gene>(others[random_.below(others.size())]);
  }

  const GeneticOptions& options_;
  const MappingCost& cost_;
  Random random_;
  std::vector<Individual> living_;  // the fittest first
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

std::vector<Genes> first_mappings(const Evaluator& evaluator, const GeneticOptions& options) {
  Random random(options.seed);
  std::vector<Genes> mappings;
  for (int i = 0; i < options.population; ++i) {
    const bool contiguous = random.unit() < options.contiguous;
    mappings.push_back(contiguous ? contiguous_genes(evaluator, random)
                                  : random_genes(evaluator, random));
    follow_leaders(mappings.back(), evaluator);
  }
  return mappings;
}

}  // namespace

SearchResult genetic(const Problem& problem, const GeneticOptions& options) {
  SearchResult result;
  result.method = "genetic";
  if (problem.layers == 0) return result;
  const MappingCost cost(problem, options.aim);
  auto [genes, epochs] =
      SingleGeneAlgorithm(options, cost).evolved(first_mappings(cost.evaluator(), options));
  result.epochs = epochs;
  for (const Gene gene : genes) result.mapping.processors.emplace_back(std::size_t{gene});
  rate(result, problem, options.aim);
  return result;
}

}  // namespace millrace::explore
