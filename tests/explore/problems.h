#pragma once
// Problems made of plain numbers.
#include <vector>

#include "base/random.h"
#include "board/board.h"
#include "explore/mapping/search.h"
#include "plan/networks.h"

namespace millrace::explore::test {

constexpr auto f32 = board::Precision::f32, bf16 = board::Precision::bf16,
               int8 = board::Precision::int8;

/// A chain of layers with the same time on all processors and no costs between them.
inline Problem chain_of(const std::vector<double>& weights, std::size_t processors) {
  Problem problem;
  problem.layers = weights.size();
  problem.processors = processors;
  for (double weight : weights) problem.time.emplace_back(processors, weight);
  problem.alone = problem.time;
  problem.fused_into.resize(weights.size());
  for (std::size_t i = 1; i < weights.size(); ++i) problem.edges.push_back({i - 1, i, 1});
  return problem;
}

/// Different processors, edges over one to three layers, groups of two, whole numbers.
inline Problem random_problem(Random& random, std::size_t layers, std::size_t processors) {
  Problem problem = chain_of(std::vector<double>(layers, 0), processors);
  problem.edges.clear();
  problem.read_ns = static_cast<double>(random.below(3));
  problem.write_ns = static_cast<double>(random.below(3));
  for (std::size_t i = 0; i < layers; ++i) {
    const bool joins = i > 0 && !problem.fused_into[i - 1] && random.below(3) == 0;
    if (joins) problem.fused_into[i] = i - 1;
    for (std::size_t p = 0; p < processors; ++p) {
      problem.alone[i][p] = static_cast<double>(1 + random.below(30));
      problem.time[i][p] = joins ? 0 : problem.alone[i][p];
    }
    for (std::size_t back = 1; back <= 3 && back <= i; ++back)
      if (random.below(back) == 0)
        problem.edges.push_back({i - back, i, static_cast<std::int64_t>(random.below(5))});
  }
  return problem;
}

/// As large as densenet121: 430 layers and a few more edges, every third layer fused.
inline Problem large_problem(std::size_t processors) {
  Random random(121);
  Problem problem = chain_of(std::vector<double>(430, 0), processors);
  problem.read_ns = problem.write_ns = 0.25;
  for (std::size_t i = 0; i < problem.layers; ++i) {
    const double time = 1e4 * (1 + static_cast<double>(random.below(20)));
    if (i % 3 == 2) problem.fused_into[i] = i - 1;
    problem.alone[i].assign(processors, time);
    problem.time[i].assign(processors, i % 3 == 2 ? 0 : time);
  }
  for (auto& edge : problem.edges) edge.elements = 20'000;
  for (std::size_t i = 6; i < problem.layers; i += 6) problem.edges.push_back({i - 6, i, 20'000});
  return problem;
}

inline double bottleneck_of(const Problem& problem, const plan::Mapping& mapping) {
  return fitness_of(Fitness::bottleneck, processor_times(problem, mapping));
}

using plan::test::mapping_of;

}  // namespace millrace::explore::test
