#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "explore/mapping/evaluator.h"
#include "explore/mapping/plan_period.h"
#include "explore/mapping/search.h"

namespace millrace::explore {
namespace {

/// What is near each layer.
struct Surroundings {
  std::vector<std::vector<Problem::Edge>> edges;    // by layer: to and from it
  std::vector<std::vector<std::size_t>> followers;  // by first layer of a group: the others

  explicit Surroundings(const Evaluator& evaluator)
      : edges(evaluator.layers()), followers(evaluator.layers()) {
    for (const Problem::Edge& edge : evaluator.edges()) {
      edges[edge.from].push_back(edge);
      edges[edge.to].push_back(edge);
    }
    for (std::size_t layer = 0; layer < evaluator.layers(); ++layer)
      if (evaluator.leaders()[layer] != layer)
        followers[evaluator.leaders()[layer]].push_back(layer);
  }
};

/// A mapping whose processor times follow each change of one layer.
class Changing {
 public:
  Changing(const Evaluator& evaluator, const Surroundings& near, std::vector<std::size_t> genes)
      : evaluator_(&evaluator),
        near_(&near),
        genes_(std::move(genes)),
        times_(evaluator.resources()) {
    for (std::size_t layer = 0; layer < genes_.size(); ++layer) count_layer(layer, +1);
    for (const Problem::Edge& edge : evaluator.edges()) count_edge(edge, +1);
  }

  void put(std::size_t layer, std::size_t processor) {
    if (genes_[layer] == processor) return;
    count(layer, -1);
    genes_[layer] = processor;
    count(layer, +1);
  }

  const std::vector<std::size_t>& genes() const { return genes_; }
  std::size_t processors() const { return evaluator_->processors(); }
  double value(Fitness fitness) const {
    if (refused_ > 0) return std::numeric_limits<double>::infinity();
    if (!evaluator_->has_feeding()) return fitness_of(fitness, times_);
    std::vector<double> fed = times_;
    evaluator_->feed(fed);
    return fitness_of(fitness, fed);
  }

 private:
  /// Adds or takes away all that depends on where the layer is.
  void count(std::size_t layer, double sign) {
    count_layer(layer, sign);
    for (std::size_t follower : near_->followers[layer]) count_layer(follower, sign);
    for (const Problem::Edge& edge : near_->edges[layer]) count_edge(edge, sign);
  }
  void count_edge(const Problem::Edge& edge, double sign) {
    evaluator_->add_edge(edge, genes_, sign, times_);
  }
  void count_layer(std::size_t layer, double sign) {
    const std::size_t leader = genes_[evaluator_->leaders()[layer]];
    const double time = evaluator_->layer_time(layer, genes_[layer], leader);
    evaluator_->add_ends(layer, genes_[layer], sign, times_);
    if (std::isinf(time))
      refused_ += sign > 0 ? 1 : -1;  // what is infinite could not be taken back
    else
      times_[genes_[layer]] += sign * time;
  }

  const Evaluator* evaluator_;
  const Surroundings* near_;
  std::vector<std::size_t> genes_;
  std::vector<double> times_;  // without layers that cannot run where they are
  int refused_ = 0;            // as many there are of those
};

/// Puts the layers [begin, end) onto one processor.
struct RangeMove {
  std::size_t begin = 0, end = 0, processor = 0;
  double fitness = 0;
};

/// Steps that one look at all moves may take; longer ranges are left out.
constexpr std::size_t most_moves = 20'000'000;
/// What a move must gain, relative: rounding gains less.
constexpr double least_gain = 1e-9;

/// The best move that begins at `begin`, if it beats `best`.
void look_from(const Changing& now, Fitness fitness, std::size_t begin, RangeMove& best) {
  const std::size_t layers = now.genes().size(), processors = now.processors();
  const std::size_t length = std::max<std::size_t>(1, most_moves / (layers * processors));
  const std::size_t last = std::min(layers, begin + length);
  for (std::size_t processor = 0; processor < processors; ++processor) {
    if (now.genes()[begin] == processor) continue;
    Changing trial = now;
    for (std::size_t layer = begin; layer < last; ++layer) {
      trial.put(layer, processor);
      const double value = trial.value(fitness);
      if (value < best.fitness) best = {begin, layer + 1, processor, value};
    }
  }
}

}  // namespace

SearchResult improve(const Problem& problem, const SearchResult& found, const Aim& aim) {
  constexpr int most_moves = 1000;
  const Evaluator evaluator(problem);
  const PlanPeriod plan_period(problem, aim.build);
  const Surroundings near(evaluator);
  const Fitness fitness = aim.fitness;
  SearchResult result = found;
  std::vector<std::size_t> genes;
  for (ProcessorId processor : found.mapping.processors) genes.push_back(processor.index);
  const auto period_of = [&](const std::vector<std::size_t>& processors) {
    return fitness == Fitness::period
               ? plan_period.of(std::vector<Gene>(processors.begin(), processors.end()))
               : 0;
  };
  double period = period_of(genes);
  for (; result.moves < most_moves; ++result.moves) {
    const Changing now(evaluator, near, genes);
    const double value = now.value(fitness);
    RangeMove best{0, 0, 0, value * (1 - least_gain)};
    for (std::size_t begin = 0; begin < genes.size(); ++begin) look_from(now, fitness, begin, best);
    if (best.end == 0) break;
    std::vector<std::size_t> moved = genes;
    std::fill(moved.begin() + static_cast<std::ptrdiff_t>(best.begin),
              moved.begin() + static_cast<std::ptrdiff_t>(best.end), best.processor);
    const double moved_period = period_of(moved);
    if (moved_period > period) break;
    period = moved_period;
    genes = std::move(moved);
  }
  result.mapping.processors.clear();
  for (std::size_t gene : genes) result.mapping.processors.emplace_back(gene);
  rate(result, problem, aim);
  return result;
}

}  // namespace millrace::explore
