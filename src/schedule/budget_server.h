#pragma once
// Holds a group's frames back until its budget has enough for one.
#include <cstddef>
#include <vector>

#include "base/units.h"
#include "deployment/budgets.h"

namespace millrace::schedule {

/// Of whole frames: realtime::ActivationLimit. It also keeps the frames that wait, in order.
/// Allocates no memory after it was made.
class BudgetServer {
 public:
  /// So many frames may wait.
  static constexpr std::size_t most_held = 100;

  BudgetServer() = default;
  /// Off: nothing is held back.
  explicit BudgetServer(bool is_on);
  bool is_on() const { return !begun_.empty(); }

  /// From now on with this budget, which is full, but for what frames took too much before.
  void begin(const deployment::FrameBudget& budget, Time now);
  /// From when on a frame may begin.
  Time ready() const;
  /// A frame begins.
  void take(Time now) { add(now); }
  /// Frames took so much more than they may have. As many as fit into it begin as soon as they may,
  /// and nothing runs.
  void pay(Time overrun, Time now);

  bool has_held() const { return held_count_ > 0; }
  bool is_full() const { return held_count_ == held_.size(); }
  std::size_t held() const { return held_count_; }
  /// A frame that came then waits. Precondition: !is_full().
  void hold(Time came);
  /// The first that waits does not any more; when it came.
  Time pop();
  Time first_held() const { return held_[first_held_]; }

 private:
  void add(Time at);
  Time last(std::int64_t before) const;

  deployment::FrameBudget budget_;
  std::vector<Time> begun_;  // a ring
  std::int64_t count_ = 0;   // of frames that began
  Time not_before_{};
  std::vector<Time> held_;  // a ring
  std::size_t first_held_ = 0, held_count_ = 0;
};

}  // namespace millrace::schedule
