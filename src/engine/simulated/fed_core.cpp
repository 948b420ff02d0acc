#include "engine/simulated/fed_core.h"

#include <algorithm>

namespace millrace::engine::simulated {

void FedCore::feed(Time time, Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  launched_ += time;
  if (working_ == 0) idle_from_ = std::max(idle_from_, now) + time;
}

Time FedCore::begin(Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  const Time left = working_ == 0 ? std::max<Time>(Time{}, idle_from_ - now) : Time{};
  ++working_;
  return launched_ - left;
}

Time FedCore::since(Time begun) const {
  const std::lock_guard lock(mutex_);
  return launched_ - begun;
}

void FedCore::end() {
  const std::lock_guard lock(mutex_);
  --working_;
  idle_from_ = {};
}

}  // namespace millrace::engine::simulated
