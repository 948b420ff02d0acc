#include "simulate/recurrence.h"

namespace millrace::simulate {

void Recurrence::look(const std::vector<std::int64_t>& state, std::int64_t frames, Time now) {
  if (state == kept_) {
    found_ = Steady{frames - kept_frames_, now - kept_at_};
    return;
  }
  if (++looks_ < most_looks_) return;
  kept_ = state;
  kept_frames_ = frames;
  kept_at_ = now;
  looks_ = 0;
  most_looks_ *= 2;
}

}  // namespace millrace::simulate
