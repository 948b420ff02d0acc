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

/// Subnet_i^p of the papers: layers that run in one piece. In cycle k of its stage a phase works on
/// frame k - lag, so that it need not wait within a frame for what other stages make; in the first
/// `lag` cycles it does nothing. With a batch it gathers frames and works in every batch-th cycle
/// only, on the frames of all these cycles at once.
struct Phase {
  std::vector<LayerId> layers;         // ascending
  std::int64_t lag = 0;                // frames
  std::int64_t batch = 1;              // frames; divides the largest batch of the plan
  std::optional<Time> predicted = {};  // of one frame, from the profile; none: unknown
  bool operator==(const Phase&) const = default;
};

/// Replicas take turns: each works on the frames whose number leaves `index` if divided by `of`.
struct Turn {
  std::int64_t index = 0, of = 1;
  bool is_of(std::int64_t frame) const { return of == 1 || frame % of == index; }
  bool operator==(const Turn&) const = default;
};

/// An actor: one thread on one processor that runs its phases in order, cycle after cycle. A stage
/// with replicas is there several times, alike but for name, processor, turn and times, with lags
/// that are multiples of the replicas' number, and has one phase, without a batch. Only if all of
/// the plan's stages are replicas of one may that gather frames, and so have several phases: a
/// batch is then one of the frames of its turn.
struct Stage {
  std::string name;  // "stage0"
  board::Processor processor;
  std::string engine;
  std::vector<Phase> phases;  // at least one
  Turn turn = {};
  Time predicted{};  // of one frame, from the profile; 0: unknown
  Time measured{};   // of one frame, in the running plan; 0: not measured
  bool operator==(const Stage&) const = default;
};

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

/// Carries one tensor per frame from one phase to another, of the same stage or not; to and from a
/// replica only those of its turn. Channels of the same tensor share its slots; each has its own
/// reader, so one writer and one reader each.
struct Channel {
  TensorId tensor;
  Endpoint from, to;
  // Frames; the same in all channels of the tensor. With replicas, frames of all turns together.
  std::int64_t capacity = 2;
  bool operator==(const Channel&) const = default;
};

struct Plan {
  Origin origin;
  std::string network_name;
  std::vector<std::string> layer_names;  // by LayerId: the file can be read without the model
  std::vector<Stage> stages;             // without empty ones
  std::vector<Channel> channels;
  std::vector<board::Variant> variants;  // by LayerId; empty: the engine's own choice for all
  /// Of whoever does not gather frames, such as what the plan is compared with. Empty: the same.
  std::vector<board::Variant> one_frame_variants = {};
  std::optional<network::Calibration> calibration;  // if some layer runs in int8
  Time measured{};  // between two frames, when the plan was made; 0: not measured
  bool operator==(const Plan&) const = default;
};

inline const std::vector<board::Variant>& one_frame_variants(const Plan& plan) {
  return plan.one_frame_variants.empty() ? plan.variants : plan.one_frame_variants;
}

}  // namespace millrace::plan
