#pragma once
// One group's session and the threads around it: of steps before and after it, and of a graph's
// tasks.
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/trace.h"
#include "board/board.h"
#include "network/network.h"
#include "plan/plan.h"
#include "runtime/controller/group_to_run.h"
#include "runtime/controller/record.h"
#include "runtime/controller/released_group.h"
#include "runtime/first_error.h"
#include "runtime/graph/group_actor.h"
#include "runtime/latest.h"
#include "runtime/session.h"
#include "runtime/waiting/counter.h"
#include "system/task_graph.h"

namespace millrace::runtime {

/// Signals that a controller and its groups share.
struct ControllerSignals {
  EventCount releaser;  // the release thread sleeps on it
  FirstError error;
  std::atomic<bool> failed{false};
};

/// Where a step or task of the group runs, and what it does without a function of the caller.
struct StepPlace {
  std::string task;                                // its name; empty: there is no such task
  std::optional<board::Processor> processor = {};  // none: the thread is not bound
  Time worst{};
};

struct GroupPlace {
  std::string name;
  plan::Plan plan;
  StepPlace front, back;
  system::TaskGraph graph = {};
  std::vector<StepPlace> tasks = {};      // of the graph
  std::vector<std::int64_t> spaces = {};  // of its edges, in tokens; none: nobody ever waits
  int priority = 0;                       // of SCHED_FIFO; 0: ordinary threads
  std::int64_t most = 1;                  // frames on their way
  std::size_t operations = 1;             // there are
  std::vector<Time> allowances = {};      // by operation: what a frame may take; none: all
  bool pin = true;
  std::int64_t trace_frames = 0;
  std::size_t keep_responses = 0;  // one by one
  std::uint64_t seed = 1;
  std::function<void(const std::string&)> note = {};
  /// So long a function of a task may go on when the group is to end, before it is left alone.
  Time patience = std::chrono::seconds(5);
};

/// Deployed and warmed up when it is made. One release thread uses it; the caller's functions run
/// on the group's own threads.
class GroupRunner : public ReleasedGroup {
 public:
  GroupRunner(GroupPlace place, GroupToRun group, ControllerSignals& signals);
  /// Stops without draining, unless it was joined.
  ~GroupRunner() override;
  GroupRunner(const GroupRunner&) = delete;
  GroupRunner& operator=(const GroupRunner&) = delete;

  /// std::system_error if a thread cannot be started; those that were have ended after join().
  void start();

  // The release thread's side.
  std::int64_t on_the_way() const override;
  bool is_busy() const { return on_the_way() >= place_.most; }
  void watch() override { done_.watch(); }
  void release(const ReleasedFrame& frame) override;
  std::int64_t missed() const override { return missed_.load(std::memory_order_relaxed); }
  Time take_overrun() override;
  void finish() override;

  /// Waits until the frames on their way are done, and the threads have ended. The first error of
  /// the signals says so if a task's function does not return; its thread is left alone then.
  void join();

  // Any thread.
  const std::string& name() const { return place_.name; }
  /// Its tasks and phases in the order in which a frame passes them, with their times so far.
  std::vector<TaskRecord> tasks() const;
  /// See Controller::recent().
  Trace recent(Time span) const;

  // After join().
  /// Adds what became of the frames; `operations` by operation.
  void add_to(GroupRecord& record, std::vector<OperationRecord>& operations) const;
  bool has_priorities() const;
  Trace trace(Clock::time_point begin);

 private:
  struct Ended {
    std::int64_t done = 0, missed = 0;
    Time largest{};
  };

  void warm_up();
  void add_actors();
  ActorPlan front_plan();
  ActorPlan back_plan();
  ActorPlan task_plan(std::size_t task) const;
  void connect_inputs(std::size_t node, ActorPlan& plan) const;
  /// Which outputs of the node any edge carries.
  std::vector<std::size_t> connect_outputs(std::size_t node, ActorPlan& plan) const;
  void fill(std::span<const std::span<std::byte>> inputs);
  void use(std::span<const std::span<const std::byte>> outputs);
  void enter(const ActorPlan& plan) const;
  void start(const std::shared_ptr<GroupActor>& actor);
  void work(GroupActor& actor);
  void note_done(std::int64_t frame);
  void end_frame(std::int64_t frame);
  void fail(const Failure& failure);
  void close();
  void wait_for_threads();
  void leave_stuck_actors();
  void add_phases(std::vector<TaskRecord>& tasks) const;
  void add_firings(Trace& trace, Clock::time_point begin) const;
  Time used() const;
  void keep_suspect(std::span<const std::span<std::byte>> inputs);
  std::string nan_layer() const;

  const GroupPlace place_;
  const GroupToRun group_;
  ControllerSignals& signals_;
  std::optional<Session> session_;  // of the network
  /// Inputs after a stage seemed to make NaN; touched by the thread that puts frames in.
  std::vector<network::Array> suspect_;
  std::vector<std::shared_ptr<TokenQueue>> queues_;  // by edge
  // Shared with their threads: one that is left alone outlives the group.
  std::vector<std::shared_ptr<GroupActor>> actors_;
  std::vector<std::thread> threads_;  // of the actors
  std::atomic<std::size_t> threads_at_work_{0};
  EventCount ended_;  // of the one that joins

  // The release thread writes a frame before it releases it to the actors; nobody else's frame is
  // there, since no more than `most` are on their way.
  std::vector<ReleasedFrame> frames_;
  // Touched by the release thread alone.
  std::int64_t last_released_ = 0;
  Time allowed_{}, allowance_{};  // to all frames, and to the last one
  // By slot of a frame: the actors that have not done it. The last one ends the frame.
  std::vector<std::atomic<std::size_t>> undone_;
  Counter done_;
  std::atomic<std::int64_t> missed_{0};

  // Touched by the actor that ends a frame; the next one has seen that it did.
  std::vector<Ended> ended_operations_;  // by operation
  ResponseTimes responses_;
  std::vector<Time> kept_responses_;
  Latest<TraceFrame> ended_frames_;  // of a group with a graph; times since the clock began
  std::atomic<std::int64_t> preemptions_{0};
};

}  // namespace millrace::runtime
