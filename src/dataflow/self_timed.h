#pragma once
// The self-timed execution of a component: every actor fires as soon as it can.
#include <vector>

#include "dataflow/component.h"

namespace millrace::dataflow {

/// Goes from instant to instant: the points in time at which something ends.
class SelfTimed {
 public:
  SelfTimed(const Graph& graph, const Component& component);

  /// No actor begins more firings than one round has.
  void stop_after_round();

  /// Starts what can start, and ends and restarts what takes no time, until nothing changes, more
  /// than `max_firings` firings were started in all, or more than `at_once` in this instant.
  void settle(std::int64_t max_firings, std::int64_t at_once);
  /// To the next end; false if nothing is running.
  bool advance();

  std::int64_t now() const { return now_; }
  std::int64_t started() const { return started_; }
  /// Firings started in this instant.
  std::int64_t started_now() const { return started_ - started_before_; }
  /// Firings of `actor` that have ended.
  std::int64_t ended(std::size_t actor) const { return ended_[actor]; }
  /// Words of the state.
  std::size_t state_size() const;
  /// Phases, tokens, and how much is about to end: while this is new, the state is new.
  std::vector<std::int64_t> outline() const;
  /// All that the future depends on: the outline, and what ends when.
  std::vector<std::int64_t> state() const;
  bool round_is_complete() const;

 private:
  /// What happens when a firing ends: tokens arrive, the actor may begin again. Where firings may
  /// overtake each other, each channel has an event of its own, so that tokens keep their order.
  struct Event {
    std::int64_t time;
    std::uint32_t actor, phase;
    std::uint32_t outgoing;  // which of the actor's channels gets tokens; all: all of them
    bool operator>(const Event& other) const;
    bool operator<(const Event& other) const { return other > *this; }
  };
  static constexpr std::size_t words_of_event = 4;
  bool can_start(std::size_t actor) const;
  void start(std::size_t actor);
  void schedule(const Event& event);
  void end(const Event& event);
  void produce(std::size_t channel, std::size_t phase);

  const Graph& graph_;
  const Component& component_;
  std::vector<std::vector<std::size_t>> outgoing_, incoming_;  // by actor: channels
  std::int64_t now_ = 0, started_ = 0, started_before_ = 0;    // firings; before this instant
  std::vector<std::size_t> phase_;                    // by actor: of the next firing to begin
  std::vector<std::int64_t> ended_, running_, left_;  // by actor: firings; left_: that may begin
  std::vector<std::int64_t> tokens_, arrival_;        // by channel; arrival_: of the last tokens
  std::vector<bool> overtakes_;                       // by actor
  std::vector<Event> events_;                         // a heap, the earliest first
  std::vector<std::size_t> candidates_;               // actors that may be able to start
};

}  // namespace millrace::dataflow
