#pragma once
// The simple genetic algorithm (Goldberg 1989) over rows of whole numbers, with elitism.
#include <vector>

#include "explore/evolution/genome.h"

namespace millrace::explore {

struct SgaOptions {
  std::size_t population = 24;
  double crossover = 0.9;  // of cross_exponentially
  double mutation = 0.15;  // of each gene
  std::uint64_t seed = 1;
  std::vector<Genome> start = {};  // of the first generation; the rest is random
};

/// Tournaments of two choose parents; each is crossed with another one, then mutated. The best of
/// parents and children survive. The same seed gives the same result everywhere.
class Sga {
 public:
  /// Asks for the costs of a generation at once, one case each. Precondition: there are genes.
  Sga(Genome sizes, GenomeCases cost, SgaOptions options);
  void next_generation();
  const Genome& best() const { return living_.front().genome; }
  double least_cost() const { return living_.front().cost; }

 private:
  struct Individual {
    Genome genome;
    double cost = 0;
  };
  void add(std::vector<Genome> genomes);
  void sort();
  const Genome& parent();

  Genome sizes_;
  GenomeCases cost_;
  SgaOptions options_;
  Random random_;
  std::vector<Individual> living_;  // the best first
};

}  // namespace millrace::explore
