#pragma once
// Who releases frames, and follows the scenario machine. Drawn in docs/methods/runtime.md.
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "deployment/deployment.h"
#include "runtime/controller/clock_control.h"
#include "runtime/controller/group_runner.h"
#include "runtime/controller/record.h"
#include "runtime/controller/release_costs.h"
#include "runtime/controller/released_group.h"
#include "schedule/release_machine.h"

namespace millrace::runtime {

/// Does what schedule::ReleaseMachine decides, each at its moment. run() is the release thread's
/// work; ask() and stop() may be called by any thread, extend() by one.
class ReleaseLoop {
 public:
  /// What it uses; all borrowed.
  struct Parts {
    const deployment::Deployment* deployment;
    std::vector<ReleasedGroup*> groups;  // by GroupId
    ClockControl& clocks;
    ControllerSignals& signals;
    std::size_t keep_costs = 0;  // of so many releases
    schedule::ReleaseOptions releases = {};
    /// By GroupId: a group that ends no frame for so long, while some are on their way, is an
    /// error; empty: nobody looks.
    std::vector<Time> patience = {};
  };
  explicit ReleaseLoop(const Parts& parts);
  ~ReleaseLoop();
  ReleaseLoop(const ReleaseLoop&) = delete;
  ReleaseLoop& operator=(const ReleaseLoop&) = delete;

  /// From this scenario and level on, until stop() or a group's failure; then no group gets a frame
  /// any more. Allocates no memory.
  void run(const deployment::Wanted& first);
  // What run() consists of.
  void begin(const deployment::Wanted& first) { machine_.begin(first); }
  /// Looks at what happened, and does what is to be done at this moment.
  void step(Clock::time_point at);
  /// When to step again if nothing happens; long ago: at once.
  Clock::time_point next_step();

  /// The latest wish holds.
  void ask(const deployment::Wanted& wanted);
  /// From the end of a transition on, which begins at once, there are these groups. The deployment
  /// and the groups begin with those that there are, and have the same scenarios and levels.
  void extend(const deployment::Deployment& deployment, std::vector<ReleasedGroup*> groups);
  void stop();
  /// See ReleaseMachine::set_hot(). Any thread.
  void set_hot(bool is_hot);
  /// No group gets a frame any more. The release thread's, or after it.
  void finish_groups();

  // After run().
  TransitionRecord transitions() const { return {machine_.transitions(), beyond_bound_}; }
  const ResponseTimes& lateness() const { return lateness_; }
  const std::vector<Time>& release_costs() const { return costs_.kept(); }
  void add_to(std::size_t group, std::vector<OperationRecord>& operations) const;
  /// Overruns of its budget.
  void add_to(std::size_t group, GroupRecord& record) const;

 private:
  struct Group {
    ReleasedGroup* runs;
    std::int64_t missed = 0;                    // when last looked at
    Time moved{};                               // when a frame ended, or was the first on its way
    std::vector<schedule::FrameCounts> counts;  // by operation
    std::int64_t overruns = 0;                  // of budgets
    Time longest_overrun{};
  };

  /// What extend() hands over; the release thread frees none of it.
  struct Extension {
    const deployment::Deployment* deployment;
    std::vector<Group> groups;
    std::vector<schedule::ReleaseState> states;
    std::unique_ptr<Extension> before = {};  // whose parts nobody needs any more
  };

  const system::System& system() const { return deployment_->system; }
  std::vector<Group> groups_of(const std::vector<ReleasedGroup*>& runners) const;
  std::size_t operation(const deployment::Wanted& at) const;
  void look_at_ends(Time now);
  void look_for_stuck(std::size_t group, std::int64_t ended, Time now);
  void look_at_wish(Time now);
  void look_at_extension(Time now);
  void follow(const schedule::Decision& decision, Time now);
  void enter(const schedule::Decision& decision);
  void take_extension();
  void release(const schedule::Decision& decision, Time now);

  const deployment::Deployment* deployment_;
  std::vector<Group> groups_;
  ClockControl& clocks_;
  ControllerSignals& signals_;
  const schedule::ReleaseOptions releases_;
  const std::vector<Time> patience_;
  schedule::ReleaseMachine machine_;
  std::unique_ptr<Extension> taken_;
  std::int64_t beyond_bound_ = 0;
  ResponseTimes lateness_;
  ReleaseCosts costs_;

  // The newest wish: its number, scenario and level in one word, so that it is read whole.
  std::atomic<std::uint64_t> asked_for_{0};
  std::uint64_t seen_ = 0;
  std::atomic<std::int64_t> asked_at_{0};  // nanoseconds, as the clock counts; of a newest wish
  std::atomic<bool> stopped_{false}, hot_{false};
  std::atomic<Extension*> extension_{nullptr};  // owned; the newest that was not taken
};

}  // namespace millrace::runtime
