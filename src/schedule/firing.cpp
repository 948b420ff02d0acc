#include "schedule/firing.h"

namespace millrace::schedule {

PhaseOrder::PhaseOrder(const Actor& actor) {
  for (const Phase& phase : actor.phases) {
    order_.push_back(states_.size());
    states_.push_back({phase.offset, phase.batch, actor.frames.step, actor.frames.first});
  }
  std::sort(order_.begin(), order_.end(),
            [&](std::size_t a, std::size_t b) { return is_before(a, b); });
}

ClaimedFrames::ClaimedFrames(const Actor& actor) : done_(actor.phases.size()) {
  for (const Phase& phase : actor.phases) batches_.push_back(phase.batch);
  most_ = *std::max_element(batches_.begin(), batches_.end());
}

void ClaimedFrames::claim(std::int64_t first, std::int64_t count) {
  first_ = first;
  count_ = count;
  std::fill(done_.begin(), done_.end(), 0);
}

std::optional<Firing> ClaimedFrames::next() const {
  for (std::size_t phase = done_.size(); phase-- > 0;) {
    const std::int64_t there = phase == 0 ? count_ : done_[phase - 1];
    const std::int64_t frames = std::min(batches_[phase], there - done_[phase]);
    if (frames == batches_[phase] || (frames > 0 && there == count_))
      return Firing{phase, first_ + done_[phase], frames};
  }
  return std::nullopt;
}

void ClaimedFrames::add_state(std::vector<std::int64_t>& state, std::int64_t from) const {
  const bool is_done = !next();
  state.push_back(is_done ? 0 : first_ - from);
  state.push_back(is_done ? 0 : count_);
  for (const std::int64_t done : done_) state.push_back(is_done ? 0 : done);
}

}  // namespace millrace::schedule
