#include "runtime/controller/release_costs.h"

#include <algorithm>

#include "runtime/scheduling/thread_priority.h"

namespace millrace::runtime {

void ReleaseCosts::begin_wake_up() {
  if (is_full()) return;
  const Time now = time_on_core();
  if (has_begun_ && longest_ > Time{}) kept_.push_back(now - awake_since_ - all_ + longest_);
  has_begun_ = true;
  awake_since_ = now;
  all_ = longest_ = {};
}

void ReleaseCosts::begin_release() {
  if (!is_full()) released_since_ = time_on_core();
}

void ReleaseCosts::end_release() {
  if (is_full()) return;
  const Time took = time_on_core() - released_since_;
  all_ += took;
  longest_ = std::max(longest_, took);
}

}  // namespace millrace::runtime
