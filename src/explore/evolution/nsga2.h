#pragma once
// NSGA-II (Deb, Pratap, Agarwal and Meyarivan 2002) over rows of whole numbers.
#include <vector>

#include "explore/evolution/dominance.h"
#include "explore/evolution/genome.h"

namespace millrace::explore {

struct Nsga2Options {
  std::size_t population = 100;
  double crossover = 0.95;  // of two parents: at two points
  double mutation = 0.15;   // of each gene
  std::uint64_t seed = 1;
};

/// Tournaments of two choose parents. Parents and children survive by their front, and in the last
/// front that fits by their distance to their neighbours. The same seed gives the same result
/// everywhere.
class Nsga2 {
 public:
  /// Asks for the objectives of a generation at once. Precondition: there are genes.
  Nsga2(Genome sizes, GenomeCases objectives, const Nsga2Options& options);
  void next_generation();
  /// Its objectives, by genome.
  const std::vector<Point>& points() const { return points_; }
  const std::vector<Genome>& population() const { return living_; }

 private:
  void add(std::vector<Genome> genomes);
  void select();
  const Genome& parent();

  Genome sizes_;
  GenomeCases objectives_;
  Nsga2Options options_;
  Random random_;
  std::vector<Genome> living_;  // the fittest first
  std::vector<Point> points_;   // theirs
};

}  // namespace millrace::explore
