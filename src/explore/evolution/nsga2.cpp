#include "explore/evolution/nsga2.h"

#include <algorithm>
#include <numeric>

namespace millrace::explore {
namespace {

/// So many of the points, those in the first fronts; in each front the loneliest first.
std::vector<std::size_t> fittest(const std::vector<Point>& points, std::size_t count) {
  std::vector<std::size_t> chosen;
  for (const std::vector<std::size_t>& front : fronts_of(points)) {
    if (chosen.size() >= count) break;
    const std::vector<double> distances = crowding_distances(points, front);
    std::vector<std::size_t> order(front.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::greater{}, [&](std::size_t f) { return distances[f]; });
    for (const std::size_t f : order) chosen.push_back(front[f]);
  }
  chosen.resize(std::min(chosen.size(), count));
  return chosen;
}

}  // namespace

Nsga2::Nsga2(Genome sizes, GenomeCases objectives, const Nsga2Options& options)
    : sizes_(std::move(sizes)),
      objectives_(std::move(objectives)),
      options_(options),
      random_(options.seed) {
  add(first_generation(sizes_, {}, options_.population, random_));
  select();
}

void Nsga2::next_generation() {
  std::vector<Genome> children;
  while (children.size() < options_.population) {
    Genome one = parent(), other = parent();
    if (random_.unit() < options_.crossover) cross_at_two_points(one, other, random_);
    for (Genome* child : {&one, &other}) {
      mutate_uniformly(*child, sizes_, options_.mutation, random_);
      children.push_back(std::move(*child));
    }
  }
  add(std::move(children));
  select();
}

void Nsga2::add(std::vector<Genome> genomes) {
  for (Point& point : objectives_.of(genomes)) points_.push_back(std::move(point));
  for (Genome& genome : genomes) living_.push_back(std::move(genome));
}

void Nsga2::select() {
  std::vector<Genome> genomes;
  std::vector<Point> points;
  for (const std::size_t each : fittest(points_, options_.population)) {
    genomes.push_back(std::move(living_[each]));
    points.push_back(std::move(points_[each]));
  }
  living_ = std::move(genomes);
  points_ = std::move(points);
}

const Genome& Nsga2::parent() {
  const std::size_t one = random_.below(living_.size()), other = random_.below(living_.size());
  return living_[std::min(one, other)];
}

}  // namespace millrace::explore
