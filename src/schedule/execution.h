#pragma once
// A schedule executed without time: what may begin, and what its end changes.
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "schedule/firing.h"

namespace millrace::schedule {

/// How an actor chooses its next phase.
enum class Order {
  submitted,  // as the runtime: a phase whose next frame was not submitted yet is passed over
  graph,      // as the plan's CSDF graph: always in turn, also with first-free replicas
};

/// A channel is the difference of two counts of its frames: those that its writer and those that
/// its reader has done. With first-free replicas there are no channels to them.
class Execution {
 public:
  /// `in_flight`: frames on their way, at most; 0: as many as fit.
  explicit Execution(const Schedule& schedule, Order order = Order::submitted,
                     std::int64_t in_flight = 0);

  /// The firing that an idle actor begins now. It changes nothing before its end, but that no other
  /// replica takes its frames.
  std::optional<Firing> next(std::size_t actor);
  void end(std::size_t actor, const Firing& firing);
  /// Whether next() may answer otherwise than when it was asked last.
  bool is_woken(std::size_t actor) const { return actors_[actor].woken; }

  bool may_submit() const;
  void submit();
  /// The oldest frame is complete; take() gives its slots back.
  bool may_take() const;
  void take();

  std::int64_t submitted() const { return counts_[caller_in]; }
  std::int64_t taken() const { return counts_[caller_out]; }
  std::int64_t most_in_flight() const { return most_in_flight_; }
  /// All that the future depends on beside what is running, as differences to taken().
  void add_state(std::vector<std::int64_t>& state) const;

 private:
  struct Link {
    std::size_t from, to;  // counts
    std::int64_t capacity;
    Frames frames;
  };
  struct PhaseLinks {
    std::size_t count = 0;                 // where its next frame stands
    std::vector<Link> incoming, outgoing;  // copies, to have them side by side
    std::vector<std::size_t> wakes;        // actors
  };
  struct ActorState {
    PhaseOrder order;
    std::vector<PhaseLinks> phases = {};
    std::optional<ClaimedFrames> claimed = {};  // with first-free replicas
    bool woken = true;
  };
  struct FirstFree {
    std::int64_t claimed = 0;    // frames that a replica has, or had
    std::deque<bool> done = {};  // by frame, from taken() on, as far as one is
  };
  struct Channels;
  static constexpr std::size_t caller_in = 0, caller_out = 1;

  void add_actor(const Actor& actor);
  void add_channel(const Channel& channel);
  std::int64_t tokens(const Link& link) const {
    return link.frames.before(counts_[link.from]) - link.frames.before(counts_[link.to]);
  }
  std::optional<Firing> next_first_free(ClaimedFrames& claimed);
  void end_first_free(ClaimedFrames& claimed, const Firing& firing);

  Order order_;
  std::int64_t most_in_flight_, round_;
  std::vector<std::int64_t> counts_{0, 0};  // of the caller's two sides, then of phases: frames
  std::vector<ActorState> actors_;
  std::optional<FirstFree> first_free_;
  std::vector<Link> from_caller_, to_caller_;
  std::vector<std::size_t> woken_by_submit_, woken_by_take_;  // actors
};

}  // namespace millrace::schedule
