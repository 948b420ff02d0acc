#pragma once
// A chain of layers on a small board, with all that a search over configurations needs.
#include <memory>
#include <vector>

#include "base/random.h"
#include "explore/configuration/methods.h"
#include "explore/configuration/simulated_objective.h"
#include "support/network_builder.h"

namespace millrace::explore::test {

inline network::Network chain_network(std::size_t layers) {
  millrace::test::NetworkBuilder builder;
  TensorId x = builder.input({1, 8});
  for (std::size_t i = 0; i < layers; ++i) x = builder.unary(network::UnaryKind::relu, x);
  builder.output(x);
  return builder.build();
}

/// A GPU and so many accelerators, which run only whole subnets: at most four together.
inline board::Board accelerated_board(int accelerators) {
  board::Board board;
  board.name = "accelerated";
  board::Device gpu, npu;
  gpu.name = "gpu";
  gpu.kind = board::ProcessorKind::gpu;
  gpu.processors = {"gpu"};
  npu.name = "npu";
  npu.kind = board::ProcessorKind::npu;
  for (int i = 0; i < accelerators; ++i) npu.processors.push_back("npu" + std::to_string(i));
  npu.limits.granularity = board::Granularity::subnet;
  npu.limits.subnets_together = 4;
  npu.limits.fallback = "gpu";
  board.devices = {gpu, npu};
  for (const board::Device& device : board.devices)
    for (const board::Processor& processor : board::processors_of(device))
      board.processors.push_back(processor);
  return board;
}

/// Random times of some microseconds; accelerators take twice as long and cannot run every
/// `refused`-th layer (0: they run all).
inline Problem accelerated_problem(std::size_t layers, std::size_t processors,
                                   std::size_t refused = 0) {
  Random random(layers);
  Problem problem;
  problem.layers = layers;
  problem.processors = processors;
  for (std::size_t i = 0; i < layers; ++i) {
    const double gpu = 1000 * static_cast<double>(1 + random.below(20));
    const bool no = refused > 0 && i % refused == refused - 1;
    std::vector<double> times(processors, no ? std::numeric_limits<double>::infinity() : 2 * gpu);
    times[0] = gpu;
    problem.time.push_back(times);
    if (i > 0) problem.edges.push_back({i - 1, i, 8});
  }
  problem.alone = problem.time;
  problem.variants.assign(layers, std::vector<board::Variant>(processors));
  problem.fused_into.resize(layers);
  problem.borders.assign(processors, {.read_ns = 1, .write_ns = 1, .border_ns = 500});
  return problem;
}

/// Stays where it is: `context` borrows.
struct Field {
  Field(std::size_t layers, int accelerators, std::size_t refused = 0)
      : network(chain_network(layers)),
        board(accelerated_board(accelerators)),
        problem(accelerated_problem(layers, board.processors.size(), refused)) {}
  Field(const Field&) = delete;
  Field& operator=(const Field&) = delete;

  CandidateCache cache(CandidateCacheOptions options = {}) const {
    return {context, simulated_objective(context), std::move(options)};
  }

  network::Network network;
  board::Board board;
  Problem problem;
  plan::BuildOptions build{.capacity = 3};
  SearchContext context{network, board, problem, build};
};

/// The best throughput of all tuples of all mapping options, simulated.
inline double best_of_all(const Field& field) {
  double best = 0;
  const std::function<void(Configuration&, std::size_t)> visit = [&](Configuration& c,
                                                                     std::size_t from) {
    if (c.cuts.size() + 1 == c.stages.size()) {
      if (realise(field.context, c).verdict)
        best = std::max(best, simulated_score(field.context, c).throughput);
      return;
    }
    for (std::size_t cut = from; cut + 1 < field.problem.layers; ++cut) {
      c.cuts.push_back(cut);
      visit(c, cut + 1);
      c.cuts.pop_back();
    }
  };
  for (const MappingOption& option : mapping_options(field.board)) {
    Configuration configuration{option.stages, {}, field.build.capacity};
    visit(configuration, 0);
  }
  return best;
}

}  // namespace millrace::explore::test
