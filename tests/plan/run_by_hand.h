#pragma once
// Runs a plan without replicas by its rule alone, frame by frame: knows neither the plan's dataflow
// graph nor the checks that are made with it.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "plan/plan.h"

namespace millrace::plan::test {

class RunByHand {
 public:
  RunByHand(const Plan& plan, std::int64_t frames)
      : plan_(plan),
        frames_(frames),
        next_(plan.stages.size()),
        written_(plan.channels.size(), 0),
        read_(plan.channels.size(), 0) {}

  /// Empty, or which stage waits for ever. Afterwards every channel has passed all frames.
  std::string waits() {
    while (step()) continue;
    for (std::size_t s = 0; s < next_.size(); ++s)
      if (next_[s].cycle < cycles()) return fmt::format("{} waits", plan_.stages[s].name);
    for (std::size_t c = 0; c < written_.size(); ++c)
      if (written_[c] != frames_ || read_[c] != frames_)
        return fmt::format("channel {} passed {} frames", c, read_[c]);
    return {};
  }

 private:
  struct Place {
    std::int64_t cycle = 0;
    std::size_t phase = 0;
  };
  /// The frames [first, end) that a phase works on in a cycle.
  struct Work {
    std::int64_t first = 0, end = 0;
  };

  /// Enough that each phase has passed the last frame, in however large a batch.
  std::int64_t cycles() const {
    std::int64_t most = 0;
    for (const Stage& stage : plan_.stages)
      for (const Phase& phase : stage.phases) most = std::max(most, phase.offset + phase.batch);
    return frames_ + most;
  }

  Work work_of(const Phase& phase, std::int64_t cycle) const {
    if ((cycle + 1) % phase.batch != 0) return {};
    const std::int64_t end = cycle + 1 - phase.offset;
    return {std::clamp<std::int64_t>(end - phase.batch, 0, frames_),
            std::clamp<std::int64_t>(end, 0, frames_)};
  }

  bool can_fire(std::size_t stage, std::size_t phase, const Work& work) const {
    for (std::size_t c = 0; c < plan_.channels.size(); ++c) {
      const Channel& channel = plan_.channels[c];
      if (is(channel.to, stage, phase) && written_[c] < work.end) return false;
      if (is(channel.from, stage, phase) && work.end - read_[c] > channel.capacity) return false;
    }
    return true;
  }

  void fire(std::size_t stage, std::size_t phase, const Work& work) {
    for (std::size_t c = 0; c < plan_.channels.size(); ++c) {
      if (is(plan_.channels[c].to, stage, phase)) read_[c] = work.end;
      if (is(plan_.channels[c].from, stage, phase)) written_[c] = work.end;
    }
  }

  /// Each stage as far as it comes; the caller hands over, and takes, one frame at a time. Whether
  /// anything moved.
  bool step() {
    bool moved = false;
    for (std::size_t c = 0; c < plan_.channels.size(); ++c) {
      const Channel& channel = plan_.channels[c];
      const bool given = channel.from.is_outside() && written_[c] < frames_ &&
                         written_[c] - read_[c] < channel.capacity;
      const bool taken = channel.to.is_outside() && read_[c] < written_[c];
      if (given) ++written_[c];
      if (taken) ++read_[c];
      moved = moved || given || taken;
    }
    for (std::size_t s = 0; s < next_.size(); ++s) moved = advance(s) || moved;
    return moved;
  }

  bool advance(std::size_t s) {
    Place& place = next_[s];
    bool moved = false;
    while (place.cycle < cycles()) {
      const Work work = work_of(plan_.stages[s].phases[place.phase], place.cycle);
      if (work.first < work.end) {
        if (!can_fire(s, place.phase, work)) return moved;
        fire(s, place.phase, work);
      }
      moved = true;
      if (++place.phase < plan_.stages[s].phases.size()) continue;
      place = {place.cycle + 1, 0};
    }
    return moved;
  }

  static bool is(const Endpoint& end, std::size_t stage, std::size_t phase) {
    return !end.is_outside() && end.stage == stage && end.phase == phase;
  }

  const Plan& plan_;
  std::int64_t frames_;
  std::vector<Place> next_;                    // by stage
  std::vector<std::int64_t> written_, read_;  // by channel
};

}  // namespace millrace::plan::test
