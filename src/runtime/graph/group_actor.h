#pragma once
// A thread of a group: what it does in each frame, between queues of tokens.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "board/board.h"
#include "runtime/actor.h"
#include "runtime/graph/firing.h"
#include "runtime/graph/token_queue.h"
#include "runtime/latest.h"
#include "runtime/waiting/counter.h"

namespace millrace::runtime {

struct ActorPlan {
  std::string name;    // of the task; empty: the thread hands frames over
  std::string thread;  // the thread's name
  std::optional<board::Processor> processor = {};  // none: the thread is not bound
  std::int64_t firings = 1;                        // of a frame
  /// Else tokens of the same frame say when it begins.
  bool waits_for_release = true;
  /// Shared with whoever is at the other end of an edge.
  std::vector<std::shared_ptr<TokenQueue>> inputs = {};
  std::vector<std::vector<std::shared_ptr<TokenQueue>>> outputs = {};  // by output
  bool feeds_network = false, after_network = false;
  /// False: no firing will come any more. Notes its time itself.
  std::function<bool(const Firing&, PhaseTimes&)> work;
  /// It touches nothing but what it holds itself, so that its thread can be left alone in it.
  bool can_be_left = false;
  std::int64_t trace_frames = 0;
};

/// Used by its thread, by the one that releases frames, and by the one that joins.
class GroupActor {
 public:
  explicit GroupActor(ActorPlan plan);

  // The release thread's side.
  void release() {
    if (plan_.waits_for_release) released_.raise();
  }
  void finish() { released_.finish(); }

  /// Its thread's work: frame after frame, until there is none any more; then says so to those that
  /// wait for its tokens. `done` is called after each. False: it was left alone in a firing, and
  /// nobody that it knows may be there any more.
  bool run(const std::function<void(std::int64_t frame)>& done);

  // Any thread.
  /// Ends all waits.
  void close();
  /// What waits for something outside of the group should return.
  void stop() { stopping_ = true; }
  /// For how long its function has been at work; 0: it is not.
  Time at_work() const;
  /// Leaves it alone in its function, if it is there.
  bool leave();

  const std::string& name() const { return plan_.name; }
  const ActorPlan& plan() const { return plan_; }
  const PhaseTimes& times() const { return times_; }
  struct TracedFiring {
    std::int64_t frame = 0;
    Clock::time_point begin, end;
  };
  /// The newest ones that have ended.
  std::vector<TracedFiring> firings() const { return firings_.in_order(); }

 private:
  enum class State { idle, working, left };

  bool wait_for_release(std::int64_t frame);
  bool fire(std::int64_t frame);
  bool work(const Firing& firing);
  void take_spans();

  const ActorPlan plan_;
  EventCount event_count_;
  Counter released_{event_count_};
  std::atomic<bool> stopping_{false};
  std::atomic<State> state_{State::idle};
  std::atomic<std::int64_t> began_ns_{0};
  PhaseTimes times_;

  // Touched by its thread alone.
  std::int64_t number_ = 0;
  std::vector<std::span<const std::byte>> inputs_;
  std::vector<std::span<std::byte>> outputs_;
  std::vector<std::span<const std::uint8_t>> filled_inputs_;
  std::vector<std::vector<std::uint8_t>> filled_;  // by output and token
  std::vector<std::span<std::uint8_t>> filled_outputs_;
  WatchedLatest<TracedFiring> firings_;
};

}  // namespace millrace::runtime
