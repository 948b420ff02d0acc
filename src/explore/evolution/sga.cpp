#include "explore/evolution/sga.h"

#include <algorithm>

namespace millrace::explore {

Sga::Sga(Genome sizes, GenomeCases cost, SgaOptions options)
    : sizes_(std::move(sizes)),
      cost_(std::move(cost)),
      options_(std::move(options)),
      random_(options_.seed) {
  add(first_generation(sizes_, std::move(options_.start), options_.population, random_));
  sort();
}

void Sga::next_generation() {
  std::vector<Genome> parents, children;
  for (std::size_t i = 0; i < options_.population; ++i) parents.push_back(parent());
  for (const Genome& each : parents) {
    Genome child = each;
    cross_exponentially(child, parents[random_.below(parents.size())], options_.crossover, random_);
    mutate_uniformly(child, sizes_, options_.mutation, random_);
    children.push_back(std::move(child));
  }
  add(std::move(children));
  sort();
  living_.resize(options_.population);
}

void Sga::add(std::vector<Genome> genomes) {
  const auto costs = cost_.of(genomes);
  for (std::size_t g = 0; g < genomes.size(); ++g)
    living_.push_back({std::move(genomes[g]), costs[g].front()});
}

void Sga::sort() { std::ranges::stable_sort(living_, {}, &Individual::cost); }

const Genome& Sga::parent() {
  const std::size_t one = random_.below(living_.size()), other = random_.below(living_.size());
  return living_[std::min(one, other)].genome;
}

}  // namespace millrace::explore
