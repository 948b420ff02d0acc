#pragma once
// From a mapping to a plan: a list of steps, each a function from plan to plan.
#include <map>
#include <string>
#include <vector>

#include "plan/plan.h"

namespace millrace::plan {

/// What a step of build() took.
struct StepTime {
  const char* step;
  Time took{};
};

struct BuildOptions {
  std::string engine = "onednn";
  std::int64_t capacity = 2;   // frames per channel between neighbouring stages; more where a
                               // tensor skips stages; 1 saves memory, but stages then take turns
  /// Frames; 0: the phases of a frame wait for each other. A mapping that goes to and fro more
  /// often than offsets may grow waits more.
  std::int64_t most_offset = 1'000'000;
  /// Memory for the slots of all tensors: offsets grow as far as they fit in.
  Bytes most_memory = {std::int64_t{1} << 30};
  std::vector<std::int64_t> batches = {};  // frames at once, by LayerId; empty: 1 for all
  /// The further processors that share the frames of a processor of the mapping, by that; no layer
  /// is mapped to them. As many for each that has any.
  std::map<ProcessorId, std::vector<ProcessorId>> replicas = {};
  /// Streams, by LayerId, of the stage that the layer is in, on each of its processors: 1 to 64;
  /// empty: 1 for all. A phase has those of its first layer.
  std::vector<std::int64_t> streams = {};
  /// Where a device has a memory of its own: see add_transfers(). Else stages move what they need.
  bool transfers = true;
  std::vector<StepTime>* times = nullptr;  // borrowed; gets what each step takes
};

/// Step 3 of the papers (Algorithm 2) with the phase rule of decision 4: layers are visited
/// in topological order, per processor; a new phase begins at a layer one of whose inputs comes
/// from a phase of another processor that transitively waits for the open phase, phases waiting for
/// all inputs of all their layers. The result has passed check(). Precondition: one processor per
/// layer, else InputError.
Plan build(const network::Network& network, const board::Board& board, const Mapping& mapping,
           const BuildOptions& options = {});

/// The frames of one iteration of the plan's CSDF graph: the plan's largest batch for each replica.
std::int64_t round_of(const Plan& plan);

/// Step 1 of the papers (Algorithm 1): one actor per layer, one channel per edge, one token per
/// element.
dataflow::Graph sdf_graph(const network::Network& network);

/// The rules every plan obeys: each layer exactly once, phases in an order that respects the edges,
/// a channel for every edge that crosses phases and no others, batches only of layers that keep
/// frames apart. That its graph is live says schedule::check_live. InputError names the stage,
/// phase, layer or channel.
void check(const Plan& plan, const network::Network& network);

/// Where one plan is deployed alone: no core is used twice, but by streams of one processor, with
/// its other stages. InputError names the second stage.
void check_cores(const Plan& plan);

/// Whether some core has stages of both.
bool share_cores(const Plan& one, const Plan& other);

}  // namespace millrace::plan
