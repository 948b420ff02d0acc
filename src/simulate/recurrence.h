#pragma once
// Finds out when a simulation begins to repeat itself.
#include <cstdint>
#include <optional>
#include <vector>

#include "simulate/simulate.h"

namespace millrace::simulate {

/// Brent's algorithm: one state is kept, after twice as many looks each time, and compared with
/// those that follow.
class Recurrence {
 public:
  /// A state on which all that follows depends, at an instant before which `frames` were complete.
  void look(const std::vector<std::int64_t>& state, std::int64_t frames, Time now);
  const std::optional<Steady>& found() const { return found_; }

 private:
  std::vector<std::int64_t> kept_;
  std::int64_t kept_frames_ = 0, looks_ = 0, most_looks_ = 1;
  Time kept_at_{};
  std::optional<Steady> found_;
};

}  // namespace millrace::simulate
