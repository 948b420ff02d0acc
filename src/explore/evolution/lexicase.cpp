#include "explore/evolution/lexicase.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>
#include <unordered_map>

namespace millrace::explore {
namespace {

struct GenomeHash {
  std::size_t operator()(const Genome& genome) const {
    std::size_t hash = 0xcbf29ce484222325u;
    for (const std::uint32_t gene : genome) hash = (hash ^ gene) * 0x100000001b3u;
    return hash;
  }
};

class Lexicase {
 public:
  Lexicase(const Genome& sizes, const GenomeCases& cases, const LexicaseOptions& options)
      : sizes_(sizes), cases_(cases), options_(options), random_(options.seed) {}

  LexicaseResult run() {
    begin();
    std::size_t generation = 0, in_vain = 0;
    for (; generation < options_.generations; ++generation) {
      if (options_.stop && options_.stop(generation)) break;
      if (options_.patience > 0 && in_vain >= options_.patience) break;
      improved_ = false;
      breed();
      select();
      in_vain = improved_ ? 0 : in_vain + 1;
    }
    LexicaseResult result{{}, generation, known_.size()};
    const std::set<Genome> different(living_.begin(), living_.end());
    result.population.assign(different.begin(), different.end());
    return result;
  }

 private:
  void begin() {
    living_ = first_generation(sizes_, options_.start, options_.population, random_);
    ask();
  }

  /// For the cases of those that live, where they are not known.
  void ask() {
    std::vector<Genome> wanted;
    for (const Genome& genome : living_)
      if (known_.try_emplace(genome).second) wanted.push_back(genome);
    std::vector<std::vector<double>> found = cases_.of(wanted);
    for (std::size_t w = 0; w < wanted.size(); ++w) {
      const double sum = std::accumulate(found[w].begin(), found[w].end(), 0.0);
      best_.resize(found[w].size(), std::numeric_limits<double>::infinity());
      for (std::size_t c = 0; c < best_.size(); ++c) note(best_[c], found[w][c]);
      note(best_sum_, sum);
      known_[wanted[w]] = std::move(found[w]);
    }
  }

  void note(double& best, double value) {
    improved_ = improved_ || value < best;
    best = std::min(best, value);
  }

  void breed() {
    const std::size_t parents = living_.size();
    for (std::size_t p = 0; p < parents; ++p)
      for (int child = 0; child < 2; ++child)
        living_.push_back(child_of(living_[p], living_[random_.below(parents)]));
  }

  Genome child_of(const Genome& one, const Genome& other) {
    Genome child = one;
    for (std::size_t g = 0; g < child.size(); ++g)
      if (random_() & 1) child[g] = other[g];
    do {  // often one gene, sometimes more: what needs two changes at once is found too
      const std::size_t gene = random_.below(child.size());
      child[gene] = static_cast<std::uint32_t>(random_.below(sizes_[gene]));
    } while (random_() & 1);
    return child;
  }

  void select() {
    std::sort(living_.begin(), living_.end());
    living_.erase(std::unique(living_.begin(), living_.end()), living_.end());
    std::vector<const std::vector<double>*> values;
    ask();
    for (const Genome& genome : living_) values.push_back(&known_.at(genome));
    std::vector<Genome> survivors{living_[best_by_sum(values)]};
    while (survivors.size() < options_.population) survivors.push_back(living_[chosen(values)]);
    living_ = std::move(survivors);
  }

  static std::size_t best_by_sum(const std::vector<const std::vector<double>*>& values) {
    const auto sum = [](const std::vector<double>* each) {
      return std::accumulate(each->begin(), each->end(), 0.0);
    };
    return static_cast<std::size_t>(std::ranges::min_element(values, {}, sum) - values.begin());
  }

  /// The cases in a random order; each leaves those that are best in it.
  std::size_t chosen(const std::vector<const std::vector<double>*>& values) {
    std::vector<std::size_t> left(values.size()), order(values.front()->size());
    std::iota(left.begin(), left.end(), 0);
    std::iota(order.begin(), order.end(), 0);
    for (std::size_t o = 0; o < order.size() && left.size() > 1; ++o) {
      std::swap(order[o], order[o + random_.below(order.size() - o)]);
      double best = std::numeric_limits<double>::infinity();
      for (const std::size_t v : left) best = std::min(best, (*values[v])[order[o]]);
      std::erase_if(left, [&](std::size_t v) { return (*values[v])[order[o]] > best; });
    }
    return left[random_.below(left.size())];
  }

  const Genome& sizes_;
  const GenomeCases& cases_;
  const LexicaseOptions& options_;
  Random random_;
  std::unordered_map<Genome, std::vector<double>, GenomeHash> known_;
  std::vector<Genome> living_;
  std::vector<double> best_;
  double best_sum_ = std::numeric_limits<double>::infinity();
  bool improved_ = false;
};

}  // namespace

LexicaseResult lexicase_search(const Genome& sizes, const GenomeCases& cases,
                               const LexicaseOptions& options) {
  if (sizes.empty()) return {};
  return Lexicase(sizes, cases, options).run();
}

}  // namespace millrace::explore
