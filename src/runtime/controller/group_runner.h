#pragma once
// One group's session with a thread before it and one after it.
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "board/board.h"
#include "network/network.h"
#include "plan/plan.h"
#include "runtime/actor.h"
#include "runtime/controller/group_to_run.h"
#include "runtime/controller/record.h"
#include "runtime/first_error.h"
#include "runtime/session.h"
#include "runtime/waiting/counter.h"

namespace millrace::runtime {

/// Of a controller and its groups.
struct ControllerSignals {
  EventCount releaser;  // the release thread sleeps on it
  FirstError error;
  std::atomic<bool> failed{false};
};

/// Which thread does a step of the group, and what it does without a function of the caller.
struct StepPlace {
  std::string task;                                // its name; empty: there is no such task
  std::optional<board::Processor> processor = {};  // none: the thread is not bound
  Time worst{};
};

struct GroupPlace {
  std::string name;
  plan::Plan plan;
  StepPlace front, back;
  int priority = 0;            // of SCHED_FIFO; 0: ordinary threads
  std::int64_t most = 1;       // frames on their way
  std::size_t operations = 1;  // there are
  bool pin = true;
  std::int64_t trace_frames = 0;
  std::size_t keep_responses = 0;  // one by one
  std::uint64_t seed = 1;
  std::function<void(const std::string&)> note = {};
};

struct ReleasedFrame {
  Clock::time_point due;
  Time deadline{};
  std::size_t operation = 0;  // in which it was released
};

/// Deployed and warmed up when it is made. One release thread uses it; the caller's functions run
/// on the group's own threads.
class GroupRunner {
 public:
  GroupRunner(GroupPlace place, GroupToRun group, ControllerSignals& signals);
  /// Stops without draining, unless it was joined.
  ~GroupRunner();
  GroupRunner(const GroupRunner&) = delete;
  GroupRunner& operator=(const GroupRunner&) = delete;

  void start();

  // The release thread's side.
  /// Frames that were released and are not done.
  std::int64_t on_the_way() const;
  bool is_busy() const { return on_the_way() >= place_.most; }
  /// The release thread is woken when a frame is done.
  void watch() { done_.watch(); }
  /// Precondition: not is_busy().
  void release(const ReleasedFrame& frame);
  /// When the last frame on its way has to be done; if there is none, long ago.
  Clock::time_point last_deadline() const;
  std::int64_t missed() const { return missed_.load(std::memory_order_relaxed); }
  /// No more frames will come.
  void finish() { released_.finish(); }

  /// Waits until the frames on their way are done, and the threads have ended.
  void join();
  // After that.
  /// Adds what became of the frames; `operations` by operation.
  void add_to(GroupRecord& record, std::vector<OperationRecord>& operations) const;
  bool has_priorities() const { return session_.has_priorities(); }
  Trace trace(Clock::time_point begin) { return session_.trace(begin); }

 private:
  struct Ended {
    std::int64_t done = 0, missed = 0;
    Time largest{};
  };

  void warm_up();
  void run_front();
  void run_back();
  void end_frame(std::int64_t frame);
  void fill(std::span<const std::span<std::byte>> inputs);
  void use(std::span<const std::span<const std::byte>> outputs);
  void enter(const StepPlace& place, const char* suffix) const;
  template <class Work>
  void guarded(const Work& work);

  const GroupPlace place_;
  const GroupToRun group_;
  ControllerSignals& signals_;
  Session session_;

  // The release thread writes a frame before it raises released_; nobody else's frame is there,
  // since no more than `most` are on their way.
  std::vector<ReleasedFrame> frames_;
  std::int64_t last_released_ = 0;  // touched by the release thread alone
  EventCount front_event_count_;
  Counter released_{front_event_count_};
  Counter done_;
  std::atomic<std::int64_t> missed_{0};

  PhaseTimes front_times_, back_times_;
  // Touched by the back thread alone while it runs.
  std::vector<Ended> ended_;  // by operation
  ResponseTimes responses_;
  std::vector<Time> kept_responses_;
  std::int64_t front_preemptions_ = 0, back_preemptions_ = 0;
  std::thread front_, back_;
};

}  // namespace millrace::runtime
