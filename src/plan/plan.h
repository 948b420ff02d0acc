#pragma once
// The complete decision: what runs where, in which order, through which channels.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/units.h"
#include "board/board.h"
#include "board/variant.h"
#include "dataflow/graph.h"
#include "network/calibration.h"
#include "network/network.h"
#include "plan/mapping.h"
#include "plan/origin.h"

namespace millrace::plan {

/// Copies a tensor from one memory space to another; one of them is the host's, which has no name.
struct Transfer {
  TensorId tensor;
  std::string from, to;
  bool operator==(const Transfer&) const = default;
};

/// Subnet_i^p of the papers: layers that run in one piece, or a transfer. In cycle k of its stage a
/// phase works on frame k - offset, so that it need not wait within a frame for what other stages
/// make; in the first `offset` cycles it does nothing. With a batch it gathers frames and works in
/// every batch-th cycle only, on the frames of all these cycles at once.
struct Phase {
  std::vector<LayerId> layers;  // ascending; none of a transfer
  std::int64_t offset = 0;      // frames
  std::int64_t batch = 1;       // frames; divides the largest batch of the plan
  std::optional<Transfer> transfer = {};
  bool operator==(const Phase&) const = default;
};

/// How the replicas of a stage share its frames.
enum class Dispatch {
  round_robin,  // replica r of n works on the frames whose number leaves r if divided by n
  first_free,   // whoever is free takes the next frames: only of the whole network
};
const char* to_text(Dispatch dispatch);  // "round robin"

/// An actor for each of its replicas: one thread that runs its phases in order, cycle after cycle,
/// each a frame of this replica's further. So offsets are multiples of the number of replicas.
struct Stage {
  std::string name;  // "stage0"
  std::string engine;
  /// One for each replica, at least one. Replicas on the same processor are its streams: while one
  /// waits for its frame, for a launch or at a border, the other works.
  std::vector<board::Processor> processors;
  Dispatch dispatch = Dispatch::round_robin;
  std::vector<Phase> phases;  // at least one
  /// Where its layers read and write what has a channel there; empty: the host's memory.
  std::string space = {};

  std::int64_t replicas() const { return static_cast<std::int64_t>(processors.size()); }
  bool operator==(const Stage&) const = default;
};

/// Replicas that the processor has in this stage.
std::int64_t streams_on(const Stage& stage, const board::Processor& processor);

/// "stage0", or of one of several replicas "stage0.1".
std::string name_of(const Stage& stage, std::size_t replica);

/// The engine of stages whose processors need not be at hand: they take the predicted times.
inline constexpr const char* simulated_engine = "simulated";
inline bool is_simulated(const Stage& stage) { return stage.engine == simulated_engine; }

/// Where a channel begins or ends. Stage `outside` is the caller: inputs come from there, results
/// go there.
struct Endpoint {
  static constexpr std::size_t outside = static_cast<std::size_t>(-1);
  std::size_t stage = outside;
  std::size_t phase = 0;
  bool is_outside() const { return stage == outside; }
  bool operator==(const Endpoint&) const = default;
};

/// Whether the stage only copies, on an engine of a device for that.
bool is_copying(const Stage& stage);

/// Carries one tensor per frame from one phase to another, of the same stage or not. Channels of
/// the same tensor in the same memory space share its slots; each has its own reader, so one writer
/// and one reader each.
struct Channel {
  TensorId tensor;
  Endpoint from, to;
  std::int64_t capacity = 2;  // frames, of all replicas; the same in all channels of the slots
  std::string space = {};     // in which its slots lie; empty: the host's memory
  bool operator==(const Channel&) const = default;
};

/// What runs. It is made by build(), read_plan() or a function of this room from another plan, and
/// not changed.
struct Plan {
  std::string network_name;
  std::string network_hash;              // the plan is for this network; empty: for any
  std::vector<std::string> layer_names;  // by LayerId: the file can be read without the model
  std::vector<Stage> stages;             // without empty ones
  std::vector<Channel> channels;
  std::vector<board::Variant> variants;  // by LayerId; empty: the engine's own choice for all
  /// Variants for work on one frame at once, such as what the plan is compared with. Empty: the
  /// same.
  std::vector<board::Variant> one_frame_variants = {};
  std::optional<network::Calibration> calibration;  // if some layer runs in int8
  bool operator==(const Plan&) const = default;
};

inline const std::vector<board::Variant>& one_frame_variants(const Plan& plan) {
  return plan.one_frame_variants.empty() ? plan.variants : plan.one_frame_variants;
}

}  // namespace millrace::plan
