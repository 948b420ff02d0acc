#include "schedule/execution.h"

#include <algorithm>

namespace millrace::schedule {
namespace {

void add_once(std::vector<std::size_t>& to, std::size_t value) {
  if (std::find(to.begin(), to.end(), value) == to.end()) to.push_back(value);
}

}  // namespace

/// As the firing rule asks for them.
struct Execution::Channels {
  const Execution& all;
  const ActorState& actor;

  Readiness token(std::size_t phase, std::int64_t frame) const {
    for (const Link& link : actor.phases[phase].incoming)
      if (link.frames.has(frame) && all.tokens(link) <= 0) return Readiness::not_yet;
    return Readiness::yes;
  }
  Readiness space(std::size_t phase, std::int64_t frame) const {
    for (const Link& link : actor.phases[phase].outgoing)
      if (link.frames.has(frame) && all.tokens(link) >= link.capacity) return Readiness::not_yet;
    return Readiness::yes;
  }
  std::int64_t tokens(std::size_t phase, std::int64_t frame) const {
    return frames_in(actor.phases[phase].incoming, actor.order[phase].step, frame,
                     [&](const Link& link) { return all.tokens(link); });
  }
  std::int64_t spaces(std::size_t phase, std::int64_t frame) const {
    return frames_in(actor.phases[phase].outgoing, actor.order[phase].step, frame,
                     [&](const Link& link) { return link.capacity - all.tokens(link); });
  }
  /// From this frame on, until one of the links has no more for it.
  template <class Count>
  static std::int64_t frames_in(const std::vector<Link>& links, std::int64_t step,
                                std::int64_t frame, const Count& count) {
    std::int64_t least = most_tokens;
    for (const Link& link : links) {
      const std::int64_t turns = std::max<std::int64_t>(1, link.frames.step / step);
      std::int64_t before = 0;  // frames of other links of the same edge
      while (before < turns && !link.frames.has(frame + before * step)) ++before;
      if (before < turns) least = std::min(least, count(link) * turns + before);
    }
    return least;
  }
  bool is_submitted(std::int64_t frame) const {
    return all.order_ == Order::graph || all.submitted() > frame;
  }
  static void end(std::size_t) {}
};

Execution::Execution(const Schedule& schedule, Order order, std::int64_t in_flight)
    : order_(order),
      most_in_flight_(order == Order::graph ? frames_held(schedule) : schedule.most_in_flight),
      round_(schedule.round) {
  if (in_flight > 0) most_in_flight_ = std::min(most_in_flight_, in_flight);
  if (order == Order::submitted && schedule.first_free) first_free_ = FirstFree{0, {}};
  for (const Actor& actor : schedule.actors) add_actor(actor);
  for (const Channel& channel : schedule.channels)
    if (!first_free_ || channel.frames.step == 1) add_channel(channel);
  if (first_free_) return;
  for (const Channel& credit : schedule.credits) add_channel(credit);
}

void Execution::add_actor(const Actor& actor) {
  const std::size_t index = actors_.size();
  ActorState& state = actors_.emplace_back(ActorState{PhaseOrder(actor)});
  for (std::size_t p = 0; p < actor.phases.size(); ++p) {
    state.phases.push_back({counts_.size(), {}, {}, {index}});
    counts_.push_back(actor.frames.first);
  }
  if (!first_free_) return;
  state.claimed.emplace(actor);
  add_once(woken_by_submit_, index);
}

void Execution::add_channel(const Channel& channel) {
  Link link{caller_in, caller_out, channel.capacity, channel.frames};
  const auto links_of = [&](const End& end) -> PhaseLinks& {
    return actors_[end.actor].phases[end.phase];
  };
  if (!channel.from.is_outside()) link.from = links_of(channel.from).count;
  if (!channel.to.is_outside()) link.to = links_of(channel.to).count;
  if (channel.from.is_outside()) {
    from_caller_.push_back(link);
    if (!channel.to.is_outside()) add_once(woken_by_submit_, channel.to.actor);
  } else {
    PhaseLinks& writer = links_of(channel.from);
    writer.outgoing.push_back(link);
    if (!channel.to.is_outside()) add_once(writer.wakes, channel.to.actor);
  }
  if (channel.to.is_outside()) {
    to_caller_.push_back(link);
    if (!channel.from.is_outside()) add_once(woken_by_take_, channel.from.actor);
  } else {
    PhaseLinks& reader = links_of(channel.to);
    reader.incoming.push_back(link);
    if (!channel.from.is_outside()) add_once(reader.wakes, channel.from.actor);
  }
}

std::optional<Firing> Execution::next(std::size_t index) {
  ActorState& actor = actors_[index];
  actor.woken = false;
  if (first_free_) return next_first_free(*actor.claimed);
  return actor.order.next(Channels{*this, actor});
}

std::optional<Firing> Execution::next_first_free(ClaimedFrames& claimed) {
  if (const auto firing = claimed.next()) return firing;
  const std::int64_t frames = std::min(claimed.most(), submitted() - first_free_->claimed);
  if (frames == 0) return std::nullopt;
  claimed.claim(first_free_->claimed, frames);
  first_free_->claimed += frames;
  return claimed.next();
}

void Execution::end_first_free(ClaimedFrames& claimed, const Firing& firing) {
  claimed.end(firing);
  if (firing.phase + 1 < claimed.phases()) return;
  auto& done = first_free_->done;
  const auto begin = static_cast<std::size_t>(firing.frame - taken());
  const std::size_t end = begin + static_cast<std::size_t>(firing.count);
  done.resize(std::max(done.size(), end));
  std::fill_n(done.begin() + static_cast<std::ptrdiff_t>(begin), firing.count, true);
}

void Execution::end(std::size_t index, const Firing& firing) {
  ActorState& actor = actors_[index];
  if (first_free_) {
    actor.woken = true;
    return end_first_free(*actor.claimed, firing);
  }
  const PhaseLinks& phase = actor.phases[firing.phase];
  actor.order.advance(firing);
  counts_[phase.count] = actor.order[firing.phase].frame;
  for (const std::size_t other : phase.wakes) actors_[other].woken = true;
}

bool Execution::may_submit() const {
  if (submitted() - taken() >= most_in_flight_) return false;
  return std::all_of(from_caller_.begin(), from_caller_.end(), [&](const Link& link) {
    return !link.frames.has(submitted()) || tokens(link) < link.capacity;
  });
}

void Execution::submit() {
  ++counts_[caller_in];
  for (const std::size_t actor : woken_by_submit_) actors_[actor].woken = true;
}

bool Execution::may_take() const {
  if (submitted() == taken()) return false;
  if (first_free_ && (first_free_->done.empty() || !first_free_->done.front())) return false;
  return std::all_of(to_caller_.begin(), to_caller_.end(), [&](const Link& link) {
    return !link.frames.has(taken()) || tokens(link) > 0;
  });
}

void Execution::take() {
  if (first_free_) first_free_->done.pop_front();
  ++counts_[caller_out];
  for (const std::size_t actor : woken_by_take_) actors_[actor].woken = true;
}

void Execution::add_state(std::vector<std::int64_t>& state) const {
  if (!first_free_) {
    state.push_back(taken() % round_);
    for (const std::int64_t count : counts_) state.push_back(count - taken());
    return;
  }
  for (const std::int64_t count : {submitted(), first_free_->claimed})
    state.push_back(count - taken());
  for (const ActorState& actor : actors_) actor.claimed->add_state(state, taken());
  state.insert(state.end(), first_free_->done.begin(), first_free_->done.end());
}

}  // namespace millrace::schedule
