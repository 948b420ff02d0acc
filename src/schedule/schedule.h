#pragma once
// A plan compiled: which actor fires which phase on which frames, through which channels.
#include <cstdint>
#include <string>
#include <vector>

#include "plan/plan.h"

namespace millrace::schedule {

/// Every `step`-th frame from `first` on: all frames, or those of a replica.
struct Frames {
  std::int64_t first = 0, step = 1;
  bool has(std::int64_t frame) const { return step == 1 || frame % step == first; }
  /// How many of them come before this frame.
  std::int64_t before(std::int64_t frame) const {
    return step == 1 ? frame : (frame - first + step - 1) / step;
  }
  bool operator==(const Frames&) const = default;
};

/// In cycle k of its actor a phase works on frame k - offset. With a batch it works in every
/// batch-th cycle of its actor, on the frames of all these cycles at once.
struct Phase {
  std::int64_t offset = 0, batch = 1;
  bool fires_in(std::int64_t cycle) const { return (cycle + 1) % batch == 0; }
  bool operator==(const Phase&) const = default;
};

/// One replica of a stage: one thread on one processor. Its cycles are `frames.step` frames apart.
struct Actor {
  std::size_t stage = 0, replica = 0;  // of the plan
  std::string name;                    // unique
  board::Processor processor;
  /// "gpu", or "gpu.1" where several actors have the processor: each has its own lane, and its
  /// times say what the others take of it.
  std::string lane;
  Frames frames;
  std::vector<Phase> phases;  // in the order of the plan
  /// Whether the phase would begin a batch with this frame if all frames came one after the other.
  bool begins_batch(std::size_t phase, std::int64_t frame) const {
    return frames.has(frame) && frame / frames.step % phases[phase].batch == 0;
  }
};

/// Where a channel begins or ends. Actor `outside` is the caller.
struct End {
  static constexpr std::size_t outside = static_cast<std::size_t>(-1);
  std::size_t actor = outside, phase = 0;
  bool is_outside() const { return actor == outside; }
  bool operator==(const End&) const = default;
};

/// Carries a tensor of some frames from one writer to one reader. All counts are of these frames.
struct Channel {
  TensorId tensor;  // not valid: only a token for each frame
  End from, to;
  Frames frames;
  std::int64_t capacity = 0;
  std::int64_t initial_tokens = 0;  // in the plan's CSDF graph; see csdf_graph
  /// The plan's channel, of which this is the part of these frames. For an actor its parts are one
  /// channel, with each frame's replica at its other end. Credits have further numbers.
  std::size_t edge = 0;
  std::string space = {};  // in which its slots lie; empty: the host's memory

  /// Slots of the tensor: for the frames of all channels of the edge.
  std::int64_t slots() const { return capacity * frames.step; }
};

/// The actors have the plan's order. Executing it needs no plan, but for what the phases compute.
struct Schedule {
  std::string name;                    // the network's
  std::vector<Actor> actors = {};      // by stage, then by replica
  std::vector<Channel> channels = {};  // in the plan's order
  std::vector<Channel> credits = {};   // from the caller, for phases without another input: else
                                       // they would run ahead for ever
  bool first_free = false;    // replicas of the whole network: whoever is free takes the next
                              // frames, and channels to and from the caller hold nobody up
  std::int64_t round = 1;     // frames of one iteration of the CSDF graph
  std::int64_t batch = 1;     // the largest
  std::int64_t replicas = 1;  // after so many frames the same replicas meet again
  std::int64_t largest_offset = 0;
  std::int64_t most_in_flight = 1;  // frames on their way, at most
};

/// What a channel of the runtime can count.
inline constexpr std::int64_t most_tokens = (std::int64_t{1} << 24) - 1;

/// Each frame on its way is in some channel, or with the caller.
std::int64_t frames_held(const Schedule& schedule);

/// Precondition: the plan has passed plan::check; see check_live as well.
Schedule compile(const plan::Plan& plan);

}  // namespace millrace::schedule
