#pragma once
// Rows of whole numbers, and the operators of the genetic searches over them.
#include <cstdint>
#include <functional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/random.h"

namespace millrace::explore {

/// Gene i is below the i-th size.
using Genome = std::vector<std::uint32_t>;

/// How good genomes are, each in several cases or by several objectives; smaller is better. Made of
/// a function of one genome, with one value or several, or of one that takes many at once.
class GenomeCases {
 public:
  using Cases = std::vector<double>;
  template <class One>
  requires std::is_invocable_v<One&, const Genome&> GenomeCases(One one)
      : all_([one = std::move(one)](std::span<const Genome> genomes) mutable {
          std::vector<Cases> result;
          for (const Genome& genome : genomes) result.push_back(Cases{one(genome)});
          return result;
        }) {}
  template <class All>
  requires std::is_invocable_v<All&, std::span<const Genome>> GenomeCases(All all)
      : all_(std::move(all)) {}

  /// In their order.
  std::vector<Cases> of(std::span<const Genome> genomes) const { return all_(genomes); }

 private:
  std::function<std::vector<Cases>(std::span<const Genome>)> all_;
};

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
