#pragma once
// Programs of tiles: made of a model, run beside the plain loops, simulated on a board.
#include <optional>
#include <string>
#include <vector>

#include "api/context.h"
#include "network/model_source.h"
#include "workload/compile.h"
#include "workload/simulate.h"

namespace millrace::api {

struct TilesRequest {
  network::ModelSource model;
  Context context = {};
  std::vector<std::string> layers = {};  // by name; empty: all
  std::optional<Bytes> scratchpad = {};  // default: the board's, or 256 KiB
  std::int64_t parts = 1;                // of the scratchpad, of which this network gets one
  std::string board = {};                // whose rates and memory are taken; empty: usual ones
  bool overlap = false;                  // without a board: transfers beside computing
  bool fuse = true;                      // layers that follow each other, where that is faster
};

struct MadeTiles {
  workload::Compiled compiled;
  double search_seconds = 0;
};

/// InputError on a layer that is not there, and where the scratchpad is too small.
MadeTiles make_tiles(const TilesRequest& request);

/// The rates of the board's device with a memory of its own; no board: a unit that computes 8
/// multiply-accumulates and moves 4 bytes in a cycle of a GHz, with 100 cycles for each run.
workload::DeviceTarget tiles_target(const std::string& board);

/// A workload beside the layer's plain loops, on the same random inputs.
struct TilesRun {
  std::string name;
  double difference = 0;                 // the largest, over the largest result
  Time total{}, transfers{}, kernels{};  // of the fastest of the repetitions
  /// Neither in kernels nor in transfers: the interpreter.
  Time interpreting() const { return total - transfers - kernels; }
};

/// Each workload with the tensors that the plain loops gave to its layer. InputError if the program
/// has a fault, or is for another network.
std::vector<TilesRun> run_tiles(const workload::Program& program, const network::Network& network,
                                std::uint64_t seed, int repetitions);

double largest_difference(const std::vector<TilesRun>& runs);

/// Of a result, over the largest one: what sums in another order may differ by.
inline constexpr double tiles_tolerance = 1e-4;

/// What is wrong with a program for this network, a sentence each; empty: nothing. What has no
/// fault is computed too: a walk may bring other elements than the layer needs.
std::vector<std::string> tiles_faults(const workload::Program& program,
                                      const network::Network& network, std::uint64_t seed);

}  // namespace millrace::api
