#include "schedule/budget_server.h"

#include <algorithm>
#include <cassert>

namespace millrace::schedule {

BudgetServer::BudgetServer(bool is_on)
    : begun_(is_on ? deployment::most_frames_of_a_budget : 0), held_(is_on ? most_held : 0) {}

void BudgetServer::begin(const deployment::FrameBudget& budget, Time now) {
  const bool is_missing = count_ > 0 && last(1) > now;
  not_before_ = is_missing ? ready() : Time{};
  budget_ = budget;
  count_ = 0;
}

Time BudgetServer::ready() const {
  const std::int64_t frames = budget_.limit.events;
  if (count_ < frames) return not_before_;
  return std::max(not_before_, last(frames) + budget_.limit.every);
}

void BudgetServer::pay(Time overrun, Time now) {
  constexpr std::int64_t most = 10'000;
  const std::int64_t frames = std::min(most, (overrun + budget_.frame - Time{1}) / budget_.frame);
  for (std::int64_t n = 0; n < frames; ++n) add(std::max(now, ready()));
}

void BudgetServer::add(Time at) {
  begun_[static_cast<std::size_t>(count_) % begun_.size()] = at;
  ++count_;
}

Time BudgetServer::last(std::int64_t before) const {
  return begun_[static_cast<std::size_t>(count_ - before) % begun_.size()];
}

void BudgetServer::hold(Time came) {
  assert(!is_full());
  held_[(first_held_ + held_count_++) % held_.size()] = came;
}

Time BudgetServer::pop() {
  assert(has_held());
  const Time came = held_[first_held_];
  first_held_ = (first_held_ + 1) % held_.size();
  --held_count_;
  return came;
}

}  // namespace millrace::schedule
