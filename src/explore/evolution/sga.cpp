#include "explore/evolution/sga.h"

#include <algorithm>

namespace millrace::explore {

Sga::Sga(Genome sizes, Cost cost, SgaOptions options)
    : sizes_(std::move(sizes)),
      cost_(std::move(cost)),
      options_(std::move(options)),
      random_(options_.seed) {
  for (Genome& genome :
       first_generation(sizes_, std::move(options_.start), options_.population, random_))
    add(std::move(genome));
  sort();
}

void Sga::next_generation() {
  std::vector<Genome> parents;
  for (std::size_t i = 0; i < options_.population; ++i) parents.push_back(parent());
  for (const Genome& each : parents) {
    Genome child = each;
    cross_exponentially(child, parents[random_.below(parents.size())], options_.crossover, random_);
    mutate_uniformly(child, sizes_, options_.mutation, random_);
    add(std::move(child));
  }
  sort();
  living_.resize(options_.population);
}

void Sga::add(Genome genome) {
  const double cost = cost_(genome);
  living_.push_back({std::move(genome), cost});
}

void Sga::sort() { std::ranges::stable_sort(living_, {}, &Individual::cost); }

const Genome& Sga::parent() {
  const std::size_t one = random_.below(living_.size()), other = random_.below(living_.size());
  return living_[std::min(one, other)].genome;
}

}  // namespace millrace::explore
