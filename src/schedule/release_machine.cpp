#include "schedule/release_machine.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace millrace::schedule {

using deployment::Wanted, system::GroupId;

void FrameCounts::count(const Decision& decision) {
  using enum Decision::Kind;
  const Decision::Kind kind = decision.kind;
  due += kind == release || kind == skip || kind == wait || kind == hold ? 1 : 0;
  released += kind == release || kind == release_late || kind == release_held ? 1 : 0;
  skipped += kind == skip || kind == drop ? 1 : 0;
  stretched += kind == release_late ? 1 : 0;
  held += kind == release_held ? 1 : 0;
  longest_held = std::max(longest_held, decision.held);
}

FrameCounts& FrameCounts::operator+=(const FrameCounts& other) {
  due += other.due;
  released += other.released;
  skipped += other.skipped;
  stretched += other.stretched;
  held += other.held;
  longest_held = std::max(longest_held, other.longest_held);
  done += other.done;
  missed += other.missed;
  return *this;
}

ReleaseMachine::ReleaseMachine(const deployment::Deployment& deployment,
                               const ReleaseOptions& options)
    : deployment_(&deployment), states_(states_of(deployment.system, options)) {}

std::vector<ReleaseState> ReleaseMachine::states_of(const system::System& system,
                                                    const ReleaseOptions& options) {
  std::vector<ReleaseState> states(system.groups.size());
  for (std::size_t g = 0; g < states.size(); ++g) {
    states[g].most_on_the_way = deployment::most_on_the_way(system, GroupId(g));
    const bool has_recorded = options.recorded != nullptr && g < options.recorded->size();
    const system::Group& group = system.groups[g];
    states[g].is_aperiodic = group.events.aperiodic;
    states[g].budget = BudgetServer(group.budget.has_value());
    states[g].arrivals = Arrivals(
        options.seed + g, has_recorded ? (*options.recorded)[g] : std::span<const Time>{},
        group.events.aperiodic);
  }
  return states;
}

void ReleaseMachine::begin(const Wanted& first) {
  wish_ = here_ = target_ = first;
  begins_ = true;
}

void ReleaseMachine::wish(const Wanted& wanted, Time asked, Time now, std::int64_t newer) {
  transitions_.wished += newer;
  transitions_.replaced += newer - 1 + (in_transition_ ? 1 : 0);
  wish_ = wanted;
  begin_transition(cooled(wanted), asked, now);
}

void ReleaseMachine::set_hot(bool is_hot, Time now) {
  if (hot_ && !is_hot) cool_since_ = now;
  hot_ = is_hot;
}

Wanted ReleaseMachine::cooled(Wanted wanted) const {
  wanted.level = std::min(wanted.level, ceiling_);
  return wanted;
}

void ReleaseMachine::end_frames(GroupId group, std::int64_t frames, std::int64_t late) {
  states_[group.index].on_the_way -= frames;
  overload_ = overload_ || late > 0;
}

void ReleaseMachine::overrun(GroupId group, Time time, Time now) {
  states_[group.index].budget.pay(time, now);
}

void ReleaseMachine::begin_extension(Time now) {
  assert(!in_transition_);
  ++transitions_.extensions;
  begin_transition(here_, now, now);
}

void ReleaseMachine::extend(const deployment::Deployment& deployment,
                            std::vector<ReleaseState>& states) {
  assert(enters_ && states.size() >= states_.size());
  std::swap_ranges(states_.begin(), states_.end(), states.begin());
  states_.swap(states);
  deployment_ = &deployment;
}

std::optional<Decision> ReleaseMachine::decide(Time now) {
  if (std::exchange(begins_, false)) {
    enters_ = true;
    return Decision{.kind = Decision::Kind::enter, .at = here_};
  }
  if (std::exchange(enters_, false)) enter(now);
  if (in_transition_) return end_transition(now);
  for (const GroupId group : system()[here_.scenario].groups)
    if (const auto decision = decide_due(group, now)) return decision;
  follow_heat(now);
  if (!in_transition_ && system().overload == system::Overload::lower_rate) follow_overload(now);
  return in_transition_ ? end_transition(now) : std::nullopt;
}

std::optional<Decision> ReleaseMachine::drop_held() {
  const auto holds = std::ranges::find_if(
      states_, [](const ReleaseState& state) { return state.budget.has_held(); });
  if (holds == states_.end()) return std::nullopt;
  return Decision{.kind = Decision::Kind::drop,
                  .group = GroupId(static_cast<std::size_t>(holds - states_.begin())),
                  .due = holds->budget.pop(),
                  .deadline = holds->deadline,
                  .at = here_};
}

std::optional<Decision> ReleaseMachine::drop_waiting() {
  if (const auto dropped = drop_held()) return dropped;
  const auto waiting = std::ranges::find_if(states_, &ReleaseState::waiting);
  if (waiting == states_.end()) return std::nullopt;
  waiting->waiting = false;
  const Time due = std::exchange(waiting->next, waiting->arrivals.next());
  return Decision{.kind = Decision::Kind::drop,
                  .group = GroupId(static_cast<std::size_t>(waiting - states_.begin())),
                  .due = due,
                  .deadline = waiting->deadline,
                  .at = here_};
}

/// From now on no frame is released, until those on their way are done.
void ReleaseMachine::begin_transition(const Wanted& to, Time asked, Time now) {
  target_ = to;
  if (in_transition_) return;  // it goes elsewhere, and is as long
  in_transition_ = true;
  asked_ = std::min(now, asked);
  has_to_end_ = now;
  for (const ReleaseState& state : states_)
    if (state.on_the_way > 0) has_to_end_ = std::max(has_to_end_, state.last_deadline);
}

/// All processors are idle: whatever follows is as the analysis assumes it of the new scenario.
std::optional<Decision> ReleaseMachine::end_transition(Time now) {
  if (on_the_way() > 0) return std::nullopt;
  if (const auto dropped = drop_waiting()) return dropped;
  const Time lasted = now - asked_, bound = has_to_end_ - asked_;
  ++transitions_.done;
  transitions_.longest = std::max(transitions_.longest, lasted);
  transitions_.longest_bound = std::max(transitions_.longest_bound, bound);
  in_transition_ = false;
  here_ = target_;
  enters_ = true;
  return Decision{.kind = Decision::Kind::enter, .at = here_, .lasted = lasted, .bound = bound};
}

void ReleaseMachine::enter(Time now) {
  if (!begun_) begun_ = now;
  for (ReleaseState& state : states_) state.active = false;
  for (const GroupId group : system()[here_.scenario].groups) {
    ReleaseState& state = states_[group.index];
    state.active = true;
    state.deadline = deadline_of(system(), group, here_.level);
    if (const auto budget = deployment::frame_budget(*deployment_, group, here_.level))
      state.budget.begin(*budget, now);
    state.next = first_release(group, now);
  }
  calm_since_ = now;
}

/// A group that was active before keeps its distance between two frames.
Time ReleaseMachine::first_release(GroupId group, Time now) {
  ReleaseState& state = states_[group.index];
  if (state.arrivals.is_recorded())
    return state.arrivals.first_recorded(*begun_, now, transitions_.passed_over);
  const realtime::EventModel events = deployment::events_of(system(), group, here_.level);
  const Time from = now + system()[group].events.offset;
  return state.arrivals.first(events,
                              state.last ? std::max(from, *state.last + events.period) : from);
}

std::optional<Decision> ReleaseMachine::decide_due(GroupId group, Time now) {
  ReleaseState& state = states_[group.index];
  if (const auto decision = decide_held(group, now)) return decision;
  if (state.waiting) {
    if (state.is_busy() || state.budget.has_held() || state.can_begin() > now) return std::nullopt;
    state.waiting = false;
    const Decision decision = release(group, Decision::Kind::release_late, now);
    state.last = now;
    state.next = state.arrivals.next_after_wait(now);
    return decision;
  }
  if (state.next > now) return std::nullopt;
  if (!state.is_busy()) {
    const Decision decision = come(group, now);
    state.next = state.arrivals.next();
    return decision;
  }
  overload_ = overload_ || !state.is_aperiodic;
  Decision decision{.kind = Decision::Kind::skip,
                    .group = group,
                    .due = state.next,
                    .deadline = state.deadline,
                    .at = here_};
  if (system().overload == system::Overload::stretch && !state.is_aperiodic) {
    state.waiting = true;
    decision.kind = Decision::Kind::wait;
  } else {
    state.next = state.arrivals.next();
  }
  return decision;
}

/// Those that are held go first.
std::optional<Decision> ReleaseMachine::decide_held(GroupId group, Time now) {
  ReleaseState& state = states_[group.index];
  if (!state.budget.has_held()) return std::nullopt;
  const bool waited = std::exchange(state.waits_for_end, state.on_the_way >= state.most_on_the_way);
  if (state.can_begin() > now) return std::nullopt;
  const Time came = state.budget.pop();
  const Time from = waited ? now : std::max(came, state.budget.ready());
  ++state.on_the_way;
  state.budget.take(from);
  const Time due = state.is_aperiodic ? from : came;
  state.last_deadline = due + state.deadline;
  return Decision{.kind = Decision::Kind::release_held,
                  .group = group,
                  .due = due,
                  .deadline = state.deadline,
                  .held = from - came,
                  .at = here_};
}

/// A frame of a group that is not busy comes now.
Decision ReleaseMachine::come(GroupId group, Time now) {
  ReleaseState& state = states_[group.index];
  if (!state.budget.has_held() && state.can_begin() <= now)
    return release(group, Decision::Kind::release, now);
  state.last = state.next;
  state.budget.hold(state.next);
  return {.kind = Decision::Kind::hold,
          .group = group,
          .due = state.next,
          .deadline = state.deadline,
          .at = here_};
}

Decision ReleaseMachine::release(GroupId group, Decision::Kind kind, Time now) {
  ReleaseState& state = states_[group.index];
  ++state.on_the_way;
  // Not from now on: if this thread is late, the next frame need not be.
  const Time from = kind == Decision::Kind::release ? state.next : now;
  if (state.budget.is_on()) state.budget.take(std::max(from, state.budget.ready()));
  state.last = state.next;
  state.last_deadline = state.next + state.deadline;
  return {
      .kind = kind, .group = group, .due = state.next, .deadline = state.deadline, .at = here_};
}

/// Down at once, up after a while.
void ReleaseMachine::follow_overload(Time now) {
  const bool late = std::exchange(overload_, false);
  if (late) calm_since_ = now;
  Wanted next = here_;
  if (late && here_.level > 0)
    --next.level;
  else if (!late && here_.level < cooled(wish_).level && now - calm_since_ >= calm)
    ++next.level;
  if (next == here_) return;
  ++transitions_.level_changes;
  begin_transition(next, now, now);
}

void ReleaseMachine::follow_heat(Time now) {
  if (hot_ && here_.level > 0 && (!lowered_ || now - *lowered_ >= calm)) {
    ceiling_ = here_.level - 1;
    lowered_ = now;
  } else if (!hot_ && ceiling_ < system().levels - 1 && now - cool_since_ >= calm) {
    ++ceiling_;
    cool_since_ = now;
  }
  // The policy lower_rate goes up by itself.
  const bool may_rise = system().overload != system::Overload::lower_rate;
  Wanted next = here_;
  next.level = cooled(may_rise ? wish_ : here_).level;
  if (next == here_) return;
  ++transitions_.heat_changes;
  begin_transition(next, now, now);
}

Time ReleaseMachine::next_due() const {
  Time next = Time::max();
  if (in_transition_) return next;
  for (const ReleaseState& state : states_) {
    if (state.active && !state.waiting) next = std::min(next, state.next);
    const bool waits = state.waiting && state.budget.is_on() && !state.is_busy();
    if (waits || state.budget.has_held()) next = std::min(next, state.can_begin());
  }
  return next;
}

bool ReleaseMachine::waits_for(GroupId group) const {
  const ReleaseState& state = states_[group.index];
  return in_transition_ || state.waiting || state.budget.has_held();
}

bool ReleaseMachine::is_ready() const {
  if (in_transition_) return on_the_way() == 0;
  return std::ranges::any_of(states_, [](const ReleaseState& state) {
    return state.waiting && !state.is_busy() && !state.budget.is_on();
  });
}

std::int64_t ReleaseMachine::on_the_way() const {
  std::int64_t sum = 0;
  for (const ReleaseState& state : states_) sum += state.on_the_way;
  return sum;
}

}  // namespace millrace::schedule
