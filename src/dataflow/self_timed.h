#pragma once
// The self-timed execution of one connected part: every actor fires as soon as it can.
#include <queue>
#include <vector>

#include "dataflow/graph.h"
#include "dataflow/parts.h"

namespace millrace::dataflow {

/// Goes from instant to instant: the points in time at which firings end.
class SelfTimed {
 public:
  SelfTimed(const Graph& graph, const Neighbours& near, std::vector<std::size_t> part);

  /// Starts what can start, and ends and restarts what takes no time, until nothing changes or
  /// more than `max_firings` firings were started in all.
  void settle(std::int64_t max_firings);
  /// To the next end of a firing; false if nothing is running.
  bool advance();

  std::int64_t now() const { return now_; }
  std::int64_t started() const { return started_; }
  /// Firings of `actor` that have ended.
  std::int64_t ended(std::size_t actor) const { return ended_[actor]; }
  /// All that the future depends on: phases, remaining times, tokens.
  std::vector<std::int64_t> state() const;

 private:
  struct End {
    std::int64_t time;
    std::size_t actor;
    bool operator>(const End& other) const {
      return time != other.time ? time > other.time : actor > other.actor;
    }
  };
  bool can_start(std::size_t actor) const;
  void start(std::size_t actor);
  void end(std::size_t actor);

  const Graph& graph_;
  const Neighbours& near_;
  std::vector<std::size_t> part_;
  std::int64_t now_ = 0, started_ = 0;
  std::vector<std::size_t> phase_;                       // by actor
  std::vector<std::int64_t> tokens_, ended_, end_time_;  // end_time_: -1 while idle
  std::priority_queue<End, std::vector<End>, std::greater<>> running_;
  std::vector<std::size_t> candidates_;  // actors that may be able to start
};

}  // namespace millrace::dataflow
