#pragma once
// Programs of tiles: made of a network, run beside the plain loops, simulated on a board.
#include <string>
#include <vector>

#include "network/network.h"
#include "workload/compile.h"
#include "workload/simulate.h"

namespace millrace::workload {

struct TilesRequest {
  std::vector<std::string> layers = {};  // by name; empty: all
  /// Sizes of the fast memories, that of the scratchpad last; default: the board's, or 256 KiB.
  std::vector<Bytes> memories = {};
  std::int64_t parts = 1;                // of each of them, of which this network gets one
  std::string board = {};                // whose rates and memory are taken; empty: usual ones
  bool overlap = false;                  // without a board: transfers beside computing
  bool fuse = true;                      // layers that follow each other, where that is faster
};

struct MadeTiles {
  Compiled compiled;
  double search_seconds = 0;
};

/// InputError on a layer that is not there, where the scratchpad is too small, and for more
/// memories than the board has.
MadeTiles make_tiles(const network::Network& network, const TilesRequest& request);

/// The rates of the board's device with a memory of its own; no board: a unit that computes 8
/// multiply-accumulates and moves 4 bytes in a cycle of a GHz, with 100 cycles for each run. Then
/// there are so many fast memories, and the way to each moves twice as much as the one before.
DeviceTarget tiles_target(const std::string& board, std::size_t fast_memories = 1);

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
std::vector<TilesRun> run_tiles(const Program& program, const network::Network& network,
                                std::uint64_t seed, int repetitions);

double largest_difference(const std::vector<TilesRun>& runs);

/// Difference of a result, over the largest one: what sums in another order may differ by.
inline constexpr double tiles_tolerance = 1e-4;

/// What is wrong with a program for this network, a sentence each; empty: nothing. What has no
/// fault is computed too: a walk may bring other elements than the layer needs.
std::vector<std::string> tiles_faults(const Program& program,
                                      const network::Network& network, std::uint64_t seed);

}  // namespace millrace::workload
