#include "explore/evolution/genome.h"

#include <algorithm>

namespace millrace::explore {
namespace {

std::uint32_t random_gene(std::uint32_t size, Random& random) {
  return static_cast<std::uint32_t>(random.below(size));
}

}  // namespace

Genome random_genome(const Genome& sizes, Random& random) {
  Genome genome;
  for (const std::uint32_t size : sizes) genome.push_back(random_gene(size, random));
  return genome;
}

std::vector<Genome> first_generation(const Genome& sizes, std::vector<Genome> start,
                                     std::size_t population, Random& random) {
  while (start.size() < population) start.push_back(random_genome(sizes, random));
  return start;
}

void mutate_uniformly(Genome& genome, const Genome& sizes, double probability, Random& random) {
  for (std::size_t g = 0; g < genome.size(); ++g)
    if (random.unit() < probability) genome[g] = random_gene(sizes[g], random);
}

void cross_exponentially(Genome& child, const Genome& mate, double probability, Random& random) {
  std::size_t gene = random.below(child.size());
  for (std::size_t taken = 0; taken < child.size(); ++taken) {
    child[gene] = mate[gene];
    gene = (gene + 1) % child.size();
    if (random.unit() >= probability) return;
  }
}

void cross_at_two_points(Genome& one, Genome& other, Random& random) {
  const auto point = [&] { return static_cast<std::ptrdiff_t>(random.below(one.size() + 1)); };
  const auto [begin, end] = std::minmax({point(), point()});
  std::swap_ranges(one.begin() + begin, one.begin() + end, other.begin() + begin);
}

}  // namespace millrace::explore
