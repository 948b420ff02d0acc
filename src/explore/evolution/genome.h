#pragma once
// Rows of whole numbers, and the operators of the genetic searches over them.
#include <cstdint>
#include <functional>
#include <vector>

#include "base/random.h"

namespace millrace::explore {

/// Gene i is below the i-th size.
using Genome = std::vector<std::uint32_t>;

/// How good a genome is, in several cases or by several objectives; smaller is better.
using GenomeCases = std::function<std::vector<double>(const Genome&)>;

Genome random_genome(const Genome& sizes, Random& random);

/// `start`, and random ones behind it.
std::vector<Genome> first_generation(const Genome& sizes, std::vector<Genome> start,
                                     std::size_t population, Random& random);

/// Each gene takes a random value with this probability.
void mutate_uniformly(Genome& genome, const Genome& sizes, double probability, Random& random);

/// From a random gene on, around the end, genes of the mate take the place of the child's: one, and
/// each further one with this probability.
void cross_exponentially(Genome& child, const Genome& mate, double probability, Random& random);

/// The two exchange the genes between two random points.
void cross_at_two_points(Genome& one, Genome& other, Random& random);

}  // namespace millrace::explore
