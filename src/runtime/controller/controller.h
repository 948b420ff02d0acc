#pragma once
// Runs a deployment: one session for each group, all deployed once, and a thread that releases
// their frames.
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "board/board.h"
#include "deployment/deployment.h"
#include "runtime/controller/clock_control.h"
#include "runtime/controller/group_to_run.h"
#include "runtime/controller/record.h"

namespace millrace::runtime {

/// The thread that releases frames, and what watches the groups.
struct ControllerThread {
  std::string core = {};      // "isolated": the first such core; or its number; empty: any
  bool has_deadline = false;  // SCHED_DEADLINE in place of SCHED_FIFO; then on any core
  /// A group that ends no frame for so many of its bounds, while some are on their way, ends the
  /// run with an error; 0: none.
  double watchdog = 0;
};

struct ControllerOptions {
  bool pin = true;                // threads to the processors' cores
  bool priorities = true;         // SCHED_FIFO, as the assignments order the groups
  bool lock_memory = true;        // for the time of the run
  std::int64_t trace_frames = 0;  // of each group; see SessionOptions
  std::uint64_t seed = 1;         // of inputs that nobody fills, and of when frames come
  std::vector<std::vector<Time>> recorded = {};  // see schedule::ReleaseOptions
  std::size_t keep_responses = 0;                // so many of each group's, one by one
  std::size_t keep_release_costs = 0;            // so many, one by one: see ReleaseCosts
  /// So long a function of a task may go on when the run is to end, before it is left alone.
  Time patience = std::chrono::seconds(5);
  SimulatedClock simulated_clock = {};
  bool watch_heat = true;  // where clocks are not simulated; heat leads to the level below
  ClockPlaces places = {};
  ControllerThread thread = {};
  /// Told once of each thing that the system refuses.
  std::function<void(const std::string&)> note = {};
};

/// The caller's thread starts, asks and stops; the groups' functions are called by their own
/// threads. Every frame that is due is released, or skipped by the policy; every released one is
/// done when stop() returns, unless a stage or task
/// failed.
class Controller {
 public:
  /// Deploys all groups, by GroupId, and runs a few frames through each. The deployment, the board
  /// and the groups' networks and engines must outlive it. InputError if a task's processor is not
  /// on the board, or as runtime::deploy.
  Controller(const deployment::Deployment& deployment, const board::Board& board,
             std::vector<GroupToRun> groups, const ControllerOptions& options = {});
  /// Stops without draining.
  ~Controller();
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;

  /// Frames are due from now on. Once.
  void start(const deployment::Wanted& wanted);
  /// Returns at once. Frames on their way end, no new ones are released, and when all are done the
  /// clocks are set and the new scenario begins: at the latest when the last of them has to be
  /// done, and one release later. A later wish replaces one that has not begun. InputError if there
  /// is no such scenario or level.
  void switch_to(const deployment::Wanted& wanted);
  /// Deploys the groups that `joined` has behind those that run, with priorities below all of
  /// theirs, and runs a few frames through each; then a transition to the same scenario begins,
  /// after which their frames are due. For one thread, of ordinary priority, between start() and
  /// stop(). What was there, `joined` has as it was: see deployment::joined. All of it must outlive
  /// the controller. InputError if no real-time priority is left below, or as the constructor.
  void add(const deployment::Deployment& joined, std::vector<GroupToRun> groups);
  bool has_failed() const;
  // Any thread, until stop():
  /// By group: its tasks with their times so far.
  std::vector<GroupTasks> tasks() const;
  /// What was done in the last `span`, by group; without frames and waits. Empty without
  /// ControllerOptions::trace_frames.
  Trace recent(Time span) const;
  /// Priority of the thread that releases frames; 0: an ordinary one.
  int release_priority() const;
  /// Waits for the frames on their way; once. Rethrows the first error of a group.
  ControllerRecord stop();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The priorities of SCHED_FIFO by GroupId, in the order of the assignments'; those of the release
/// thread last, above all. InputError if there are more than the system has.
std::vector<int> fifo_priorities(const deployment::Deployment& deployment);

}  // namespace millrace::runtime
