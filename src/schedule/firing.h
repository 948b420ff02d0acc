#pragma once
// The firing rule: what an actor does next. Runtime and simulator ask it of their own channels.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "schedule/schedule.h"

namespace millrace::schedule {

/// What a side of a channel may expect.
enum class Readiness { yes, not_yet, never };

/// A phase works on `count` of its actor's frames from `frame` on, each `step` behind the other.
struct Firing {
  std::size_t phase = 0;
  std::int64_t frame = 0, count = 1, step = 1;
  std::int64_t last() const { return frame + (count - 1) * step; }
};

/// Where a phase stands.
struct PhaseState {
  std::int64_t offset, batch, step;
  std::int64_t frame;  // the next one

  /// The frames from the next one to the last that the phase works on at once with it. Which these
  /// are depends on the cycle alone. So a batch that had to begin without some of its frames does
  /// not change the following ones, and what the plan's graph says of them stays true.
  std::int64_t rest_of_batch() const {
    return batch == 1 ? 1 : batch - (frame + offset) / step % batch;
  }
  /// The cycle in which it fires next.
  std::int64_t cycle() const { return frame + offset + (rest_of_batch() - 1) * step; }
};

/// The phases of an actor that have not ended, in the order in which the CSDF graph fires them.
///
/// `channels` says of the channels of a phase, at one of its frames: token(phase, frame) and
/// space(phase, frame), whether all inputs have a token and all outputs space; tokens(phase, frame)
/// and spaces(phase, frame), for how many of its frames from this one on all inputs have one, and
/// all outputs space; of the caller: is_submitted(frame). It is told by end(phase) that a phase
/// never fires again.
class PhaseOrder {
 public:
  explicit PhaseOrder(const Actor& actor);

  const PhaseState& operator[](std::size_t phase) const { return states_[phase]; }
  /// The phases that have not ended.
  const std::vector<std::size_t>& phases() const { return order_; }

  /// The first phase of a frame that is on its way, if it can fire: to run a later one meanwhile
  /// would delay all that wait for this one. A phase whose next frame was not submitted yet delays
  /// none.
  template <class Channels>
  std::optional<Firing> next(Channels&& channels) {
    for (std::size_t i = 0; i < order_.size();) {
      const std::size_t phase = order_[i];
      const PhaseState& state = states_[phase];
      std::int64_t frames = 0;
      const Readiness ready = readiness(phase, channels, frames);
      if (ready == Readiness::yes) return Firing{phase, state.frame, frames, state.step};
      if (ready == Readiness::never) {
        channels.end(phase);
        order_.erase(order_.begin() + static_cast<std::ptrdiff_t>(i));
      } else if (channels.is_submitted(state.frame)) {
        return std::nullopt;
      } else {
        ++i;
      }
    }
    return std::nullopt;
  }

  /// The phase has done these frames.
  void advance(const Firing& firing) {
    PhaseState& state = states_[firing.phase];
    state.frame += firing.count * state.step;
    auto here = std::find(order_.begin(), order_.end(), firing.phase);
    for (; here + 1 != order_.end() && is_before(here[1], here[0]); ++here)
      std::swap(here[0], here[1]);
  }

 private:
  /// Whether it can fire, and on how many frames: on the rest of its batch, or on as many of it as
  /// were submitted at all and have arrived.
  template <class Channels>
  Readiness readiness(std::size_t phase, const Channels& channels, std::int64_t& frames) const {
    const PhaseState& state = states_[phase];
    if (const Readiness token = channels.token(phase, state.frame); token != Readiness::yes)
      return token;
    if (const Readiness space = channels.space(phase, state.frame); space != Readiness::yes)
      return space;
    frames = 1;
    if (state.batch == 1) return Readiness::yes;
    const std::int64_t wanted = state.rest_of_batch();
    frames = std::min(wanted, channels.tokens(phase, state.frame));
    if (frames < wanted && channels.is_submitted(state.frame + frames * state.step))
      return Readiness::not_yet;
    return channels.spaces(phase, state.frame) < frames ? Readiness::not_yet : Readiness::yes;
  }

  /// Cycle, then place in the plan.
  bool is_before(std::size_t a, std::size_t b) const {
    const std::int64_t cycle_a = states_[a].cycle(), cycle_b = states_[b].cycle();
    return cycle_a != cycle_b ? cycle_a < cycle_b : a < b;
  }

  std::vector<PhaseState> states_;  // by phase
  std::vector<std::size_t> order_;
};

/// The frames that a replica of a first-free plan has claimed, on their way through its phases. A
/// phase with a batch waits for that many of them, or for all there are; later phases go first.
class ClaimedFrames {
 public:
  explicit ClaimedFrames(const Actor& actor);

  /// As many frames as the actor's largest batch.
  std::int64_t most() const { return most_; }
  /// Precondition: all phases have done those claimed before; `count` from 1 to most().
  void claim(std::int64_t first, std::int64_t count);
  /// What the actor does next; nothing: it has done all.
  std::optional<Firing> next() const;
  void end(const Firing& firing) { done_[firing.phase] += firing.count; }
  std::size_t phases() const { return done_.size(); }
  /// All that next() depends on, with frames as differences to `from`.
  void add_state(std::vector<std::int64_t>& state, std::int64_t from) const;

 private:
  std::vector<std::int64_t> batches_, done_;  // by phase
  std::int64_t most_ = 1, first_ = 0, count_ = 0;
};

}  // namespace millrace::schedule
