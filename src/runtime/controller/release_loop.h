#pragma once
// Who releases frames, and follows the scenario machine. Drawn in docs/runtime.md.
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "deployment/deployment.h"
#include "runtime/controller/clock_control.h"
#include "runtime/controller/group_runner.h"
#include "runtime/controller/record.h"
#include "runtime/controller/release_costs.h"

namespace millrace::runtime {

/// Releases the frames of the groups that are active, each at its moment. run() is the release
/// thread's work; ask() and stop() may be called by any thread, extend() by one.
class ReleaseLoop {
 public:
  /// What it uses; all borrowed.
  struct Parts {
    const deployment::Deployment* deployment;
    std::vector<GroupRunner*> groups;  // by GroupId
    ClockControl& clocks;
    ControllerSignals& signals;
    std::size_t keep_costs = 0;  // of so many releases
  };
  explicit ReleaseLoop(const Parts& parts);
  ~ReleaseLoop();
  ReleaseLoop(const ReleaseLoop&) = delete;
  ReleaseLoop& operator=(const ReleaseLoop&) = delete;

  /// From this scenario and level on, until stop() or a group's failure; then no group gets a frame
  /// any more. Allocates no memory.
  void run(const deployment::Wanted& first);

  /// The latest wish holds.
  void ask(const deployment::Wanted& wanted);
  /// From the end of a transition on, which begins at once, there are these groups. The deployment
  /// and the groups begin with those that there are, and have the same scenarios and levels.
  void extend(const deployment::Deployment& deployment, std::vector<GroupRunner*> groups);
  void stop();
  /// No group gets a frame any more. The release thread's, or after it.
  void finish_groups();

  // After run().
  const TransitionRecord& transitions() const { return transitions_; }
  const ResponseTimes& lateness() const { return lateness_; }
  const std::vector<Time>& release_costs() const { return costs_.kept(); }
  void add_to(std::size_t group, std::vector<OperationRecord>& operations) const;

 private:
  /// One group's releases.
  struct Beat {
    bool active = false, waiting = false;  // waiting: for space, by the policy stretch
    Clock::time_point next{}, last{};
    Time period{}, deadline{};
    std::int64_t missed = 0;          // when last looked at
    std::vector<FrameCounts> counts;  // by operation
  };

  /// What extend() hands over; the release thread frees none of it.
  struct Extension {
    const deployment::Deployment* deployment;
    std::vector<GroupRunner*> groups;
    std::vector<Beat> beats;
    std::unique_ptr<Extension> before = {};  // whose parts nobody needs any more
  };

  const system::System& system() const { return parts_.deployment->system; }
  std::vector<Beat> new_beats(std::size_t groups) const;
  void look_at_extension(Clock::time_point now);
  void take_extension();
  std::size_t operation() const;
  void look_at_wish(Clock::time_point now);
  void begin_transition(const deployment::Wanted& to, Clock::time_point now);
  void end_transition(Clock::time_point now);
  void enter(const deployment::Wanted& wanted, Clock::time_point now);
  bool are_all_done() const;
  bool is_ready() const;
  void release_due(Clock::time_point now);
  void release_due(std::size_t group, Clock::time_point now);
  void release(std::size_t group, Clock::time_point due);
  bool pass_over(Beat& beat);
  void drop_waiting();
  void follow_overload(Clock::time_point now);
  bool has_new_misses();
  Clock::time_point next_event() const;
  void watch_groups();

  Parts parts_;
  std::vector<Beat> beats_;
  std::unique_ptr<Extension> taken_;
  deployment::Wanted wish_;    // the newest
  deployment::Wanted now_;     // where it is, or comes from
  deployment::Wanted target_;  // of a transition
  bool in_transition_ = false;
  Clock::time_point asked_{}, has_to_end_{};
  Clock::time_point calm_since_{};  // for lower_rate
  bool overload_ = false;
  TransitionRecord transitions_;
  ResponseTimes lateness_;
  ReleaseCosts costs_;

  // The newest wish: its number, scenario and level in one word, so that it is read whole.
  std::atomic<std::uint64_t> asked_for_{0};
  std::uint64_t seen_ = 0;
  std::atomic<std::int64_t> asked_at_{0};  // nanoseconds, as the clock counts; of a newest wish
  std::atomic<bool> stopped_{false};
  std::atomic<Extension*> extension_{nullptr};  // owned; the newest that was not taken
};

}  // namespace millrace::runtime
