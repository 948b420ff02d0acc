#include "plan/group.h"

#include <algorithm>

namespace millrace::plan {

Group::Group(const Stage& stage) : done_(stage.phases.size()) {
  for (const Phase& phase : stage.phases) batches_.push_back(phase.batch);
  most_ = *std::max_element(batches_.begin(), batches_.end());
}

void Group::take(std::int64_t first, std::int64_t count) {
  first_ = first;
  count_ = count;
  std::fill(done_.begin(), done_.end(), 0);
}

std::optional<Group::Step> Group::next() const {
  for (std::size_t phase = done_.size(); phase-- > 0;) {
    const std::int64_t there = phase == 0 ? count_ : done_[phase - 1];
    const std::int64_t frames = std::min(batches_[phase], there - done_[phase]);
    if (frames == batches_[phase] || (frames > 0 && there == count_))
      return Step{phase, first_ + done_[phase], frames};
  }
  return std::nullopt;
}

void Group::add_state(std::vector<std::int64_t>& state, std::int64_t from) const {
  const bool is_done = !next();
  state.push_back(is_done ? 0 : first_ - from);
  state.push_back(is_done ? 0 : count_);
  for (const std::int64_t done : done_) state.push_back(is_done ? 0 : done);
}

}  // namespace millrace::plan
