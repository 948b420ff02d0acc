#pragma once
// A plan's stages and channels without time: what may begin, and what that changes.
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "plan/group.h"
#include "plan/plan.h"
#include "simulate/simulate.h"

namespace millrace::simulate {

/// What a stage does next.
struct Firing {
  std::size_t phase = 0;
  std::int64_t frame = 0, count = 1;
};

/// Keeps to the rules of runtime/actor.cpp. A channel is the difference of two counts of frames of
/// its turn: those that its writer and those that its reader has done. Of a shared plan
/// (plan::is_shared) whoever is free takes the next frames, and there are no channels to the
/// copies.
class Pipeline {
 public:
  Pipeline(const plan::Plan& plan, Order order, std::int64_t in_flight);

  /// The firing that an idle stage begins now. It changes nothing before its end, but that no other
  /// copy takes its frames.
  std::optional<Firing> next(std::size_t stage);
  void end(std::size_t stage, const Firing& firing);
  /// Whether next() may answer otherwise than when it was asked last.
  bool is_woken(std::size_t stage) const { return stages_[stage].woken; }

  bool may_submit() const;
  void submit();
  /// The oldest frame is complete; take() gives its slots back.
  bool may_take() const;
  void take();

  std::int64_t submitted() const { return counts_[caller_in]; }
  std::int64_t taken() const { return counts_[caller_out]; }
  std::int64_t most_on_their_way() const { return most_on_their_way_; }
  /// All that the future depends on beside what is running, as differences to taken().
  void add_state(std::vector<std::int64_t>& state) const;

 private:
  struct Channel {
    std::size_t from, to;  // counts
    std::int64_t capacity;
    plan::Turn turn = {};
  };
  struct Phase {
    std::int64_t lag = 0, batch = 1, step = 1;  // step: from one of its frames to the next
    std::size_t count = 0;                      // where its next frame stands
    std::vector<Channel> incoming, outgoing;    // copies, to have them side by side
    std::vector<std::size_t> wakes;             // stages
  };
  struct Stage {
    std::vector<Phase> phases;
    std::vector<std::size_t> order;    // phases, in the order in which the graph fires them next
    std::optional<plan::Group> group;  // of a shared plan
    bool woken = true;
  };
  struct Shared {
    std::int64_t claimed = 0;  // frames that a copy has, or had
    std::deque<bool> done;     // by frame, from taken() on, as far as one is
  };
  static constexpr std::size_t caller_in = 0, caller_out = 1;

  void add_stage(const plan::Stage& stage);
  void add_channel(const plan::Channel& channel, const plan::Turn& turn);
  void add_tickets(const plan::Plan& plan);
  void sort_orders();
  std::size_t count_of(const plan::Endpoint& end) const;

  /// How many frames of the turn come before this one.
  static std::int64_t frames_of(const plan::Turn& turn, std::int64_t before) {
    return turn.of == 1 ? before : (before - turn.index + turn.of - 1) / turn.of;
  }
  std::int64_t tokens(const Channel& channel) const {
    return frames_of(channel.turn, counts_[channel.from]) -
           frames_of(channel.turn, counts_[channel.to]);
  }
  std::int64_t& frame_of(const Phase& phase) { return counts_[phase.count]; }
  std::int64_t frame_of(const Phase& phase) const { return counts_[phase.count]; }
  std::optional<Firing> next_shared(plan::Group& group);
  void end_shared(plan::Group& group, const Firing& firing);
  std::int64_t rest_of_batch(const Phase& phase) const;
  std::int64_t cycle_of(const Phase& phase) const;
  bool is_before(const Stage& stage, std::size_t a, std::size_t b) const;
  std::int64_t ready_frames(const Phase& phase) const;
  std::int64_t gathered(const Phase& phase) const;

  Order order_;
  std::int64_t most_on_their_way_ = 1;  // frames
  std::int64_t round_;
  std::vector<std::int64_t> counts_{0, 0};
  std::vector<Stage> stages_;
  std::optional<Shared> shared_;
  std::vector<Channel> from_caller_, to_caller_;
  std::vector<std::size_t> woken_by_submit_, woken_by_take_;  // stages
};

}  // namespace millrace::simulate
