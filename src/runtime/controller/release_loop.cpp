#include "runtime/controller/release_loop.h"

#include <algorithm>

namespace millrace::runtime {
namespace {

/// So long nothing is late before the policy lower_rate raises the level again.
constexpr Time calm = std::chrono::seconds(1);
/// Nothing is due before that; long enough that the thread costs nothing.
constexpr Time nothing_due = std::chrono::seconds(1);

constexpr int level_bits = 16, scenario_bits = 16;
constexpr std::uint64_t low(int bits) { return (std::uint64_t{1} << bits) - 1; }

std::uint64_t number_of(std::uint64_t wish) { return wish >> (level_bits + scenario_bits); }
deployment::Wanted wanted_of(std::uint64_t wish) {
  return {system::ScenarioId((wish >> level_bits) & low(scenario_bits)),
          static_cast<std::int64_t>(wish & low(level_bits))};
}

}  // namespace

ReleaseLoop::ReleaseLoop(const Parts& parts)
    : parts_(parts), beats_(new_beats(parts.groups.size())), costs_(parts.keep_costs) {}

ReleaseLoop::~ReleaseLoop() { delete extension_.load(); }

std::vector<ReleaseLoop::Beat> ReleaseLoop::new_beats(std::size_t groups) const {
  const auto operations = system().scenarios.size() * static_cast<std::size_t>(system().levels);
  std::vector<Beat> beats(groups);
  for (Beat& beat : beats) beat.counts.resize(operations);
  return beats;
}

void ReleaseLoop::extend(const deployment::Deployment& deployment,
                         std::vector<GroupRunner*> groups) {
  auto next = std::make_unique<Extension>();
  next->deployment = &deployment;
  next->beats = new_beats(groups.size());
  next->groups = std::move(groups);
  delete extension_.exchange(next.release(), std::memory_order_acq_rel);
  parts_.signals.releaser.notify();
}

/// A transition to where it is.
void ReleaseLoop::look_at_extension(Clock::time_point now) {
  if (in_transition_ || extension_.load(std::memory_order_relaxed) == nullptr) return;
  ++transitions_.extensions;
  asked_at_ = std::chrono::duration_cast<Time>(now.time_since_epoch()).count();
  begin_transition(now_, now);
}

/// No frame is on its way.
void ReleaseLoop::take_extension() {
  std::unique_ptr<Extension> next(extension_.exchange(nullptr, std::memory_order_acq_rel));
  if (!next) return;
  std::swap_ranges(beats_.begin(), beats_.end(), next->beats.begin());
  beats_.swap(next->beats);
  parts_.groups.swap(next->groups);
  parts_.deployment = next->deployment;
  next->before = std::move(taken_);
  taken_ = std::move(next);
}

void ReleaseLoop::ask(const deployment::Wanted& wanted) {
  const std::uint64_t target = (std::uint64_t{wanted.scenario.index} << level_bits) |
                               static_cast<std::uint64_t>(wanted.level);
  asked_at_ = std::chrono::duration_cast<Time>(Clock::now().time_since_epoch()).count();
  std::uint64_t before = asked_for_.load(std::memory_order_relaxed);
  while (!asked_for_.compare_exchange_weak(
      before, ((number_of(before) + 1) << (level_bits + scenario_bits)) | target,
      std::memory_order_acq_rel)) {
  }
  parts_.signals.releaser.notify();
}

void ReleaseLoop::stop() {
  stopped_ = true;
  parts_.signals.releaser.notify();
}

void ReleaseLoop::run(const deployment::Wanted& first) {
  wish_ = first;
  enter(first, Clock::now());
  while (!stopped_ && !parts_.signals.failed) {
    costs_.begin_wake_up();
    const std::uint32_t ticket = parts_.signals.releaser.ticket();
    const auto now = Clock::now();
    look_at_wish(now);
    look_at_extension(now);
    if (in_transition_ && are_all_done()) end_transition(now);
    if (!in_transition_) release_due(now);
    if (!in_transition_ && system().overload == system::Overload::lower_rate) follow_overload(now);
    watch_groups();
    if (!is_ready()) parts_.signals.releaser.sleep_before(ticket, next_event());
  }
  drop_waiting();
  finish_groups();
}

void ReleaseLoop::finish_groups() {
  for (GroupRunner* group : parts_.groups) group->finish();
}

std::size_t ReleaseLoop::operation() const {
  return now_.scenario.index * static_cast<std::size_t>(system().levels) +
         static_cast<std::size_t>(now_.level);
}

void ReleaseLoop::look_at_wish(Clock::time_point now) {
  const std::uint64_t asked_for = asked_for_.load(std::memory_order_acquire);
  const std::uint64_t newer = number_of(asked_for) - number_of(seen_);
  if (newer == 0) return;
  transitions_.wished += static_cast<std::int64_t>(newer);
  transitions_.replaced += static_cast<std::int64_t>(newer) - 1 + (in_transition_ ? 1 : 0);
  seen_ = asked_for;
  wish_ = wanted_of(asked_for);
  begin_transition(wish_, now);
}

/// From now on no frame is released, until those on their way are done.
void ReleaseLoop::begin_transition(const deployment::Wanted& to, Clock::time_point now) {
  target_ = to;
  if (in_transition_) return;  // it goes elsewhere, and is as long
  in_transition_ = true;
  asked_ = std::min(now, Clock::time_point(Time(asked_at_)));
  has_to_end_ = now;
  for (const auto& group : parts_.groups)
    if (group->on_the_way() > 0) has_to_end_ = std::max(has_to_end_, group->last_deadline());
}

/// Whether something can be done before the next frame is due.
bool ReleaseLoop::is_ready() const {
  if (in_transition_) return are_all_done();
  for (std::size_t g = 0; g < beats_.size(); ++g)
    if (beats_[g].waiting && !parts_.groups[g]->is_busy()) return true;
  return false;
}

bool ReleaseLoop::are_all_done() const {
  return std::ranges::all_of(parts_.groups,
                             [](const auto& group) { return group->on_the_way() == 0; });
}

/// All processors are idle: whatever follows is as the analysis assumes it of the new scenario.
void ReleaseLoop::end_transition(Clock::time_point now) {
  const Time lasted = now - asked_, bound = has_to_end_ - asked_;
  ++transitions_.done;
  transitions_.longest = std::max(transitions_.longest, lasted);
  transitions_.longest_bound = std::max(transitions_.longest_bound, bound);
  const Time release = std::max(lateness_.largest(), system().overhead);
  if (lasted > bound + release) ++transitions_.beyond_bound;
  in_transition_ = false;
  take_extension();
  enter(target_, now);
}

void ReleaseLoop::enter(const deployment::Wanted& wanted, Clock::time_point now) {
  drop_waiting();
  now_ = wanted;
  const deployment::Setting* setting =
      deployment::setting_for(*parts_.deployment, now_.scenario, now_.level);
  static const deployment::Clocks highest;
  parts_.clocks.set(setting ? setting->clocks : highest);
  for (Beat& beat : beats_) beat.active = false;
  for (const system::GroupId group : system()[now_.scenario].groups) {
    Beat& beat = beats_[group.index];
    beat.active = true;
    beat.period = period_of(system(), group, now_.level);
    beat.deadline = deadline_of(system(), group, now_.level);
    // A group that was active before keeps its distance between two frames.
    beat.next = std::max(now, beat.last + beat.period);
  }
  calm_since_ = now;
}

/// Frames that were due and would have come later.
void ReleaseLoop::drop_waiting() {
  for (Beat& beat : beats_) {
    if (beat.waiting) ++beat.counts[operation()].skipped;
    beat.waiting = false;
  }
}

void ReleaseLoop::release_due(Clock::time_point now) {
  for (const system::GroupId group : system()[now_.scenario].groups) release_due(group.index, now);
}

void ReleaseLoop::release_due(std::size_t group, Clock::time_point now) {
  Beat& beat = beats_[group];
  if (beat.waiting && !parts_.groups[group]->is_busy()) {
    beat.waiting = false;
    ++beat.counts[operation()].stretched;
    release(group, beat.next);
    beat.last = now;
    beat.next = now + beat.period;
  }
  while (!beat.waiting && beat.next <= now) {
    ++beat.counts[operation()].due;
    if (parts_.groups[group]->is_busy()) {
      if (!pass_over(beat)) return;
      continue;
    }
    lateness_.add(now - beat.next);
    release(group, beat.next);
    beat.next += beat.period;
  }
}

void ReleaseLoop::release(std::size_t group, Clock::time_point due) {
  costs_.begin_release();
  Beat& beat = beats_[group];
  ++beat.counts[operation()].released;
  beat.last = due;
  parts_.groups[group]->release({due, beat.deadline, operation()});
  costs_.end_release();
}

/// What happens to a frame that is due while its group is busy; false: it waits.
bool ReleaseLoop::pass_over(Beat& beat) {
  overload_ = true;
  if (system().overload == system::Overload::stretch) {
    beat.waiting = true;
    return false;
  }
  ++beat.counts[operation()].skipped;
  beat.next += beat.period;
  return true;
}

bool ReleaseLoop::has_new_misses() {
  bool found = false;
  for (std::size_t g = 0; g < beats_.size(); ++g) {
    const std::int64_t missed = parts_.groups[g]->missed();
    found = found || missed > beats_[g].missed;
    beats_[g].missed = missed;
  }
  return found;
}

/// Down at once, up after a while.
void ReleaseLoop::follow_overload(Clock::time_point now) {
  const bool late = has_new_misses() || overload_;
  overload_ = false;
  if (late) calm_since_ = now;
  deployment::Wanted next = now_;
  if (late && now_.level > 0)
    --next.level;
  else if (!late && now_.level < wish_.level && now - calm_since_ >= calm)
    ++next.level;
  if (next == now_) return;
  ++transitions_.level_changes;
  asked_at_ = std::chrono::duration_cast<Time>(now.time_since_epoch()).count();
  begin_transition(next, now);
}

Clock::time_point ReleaseLoop::next_event() const {
  auto next = Clock::now() + nothing_due;
  if (in_transition_) return next;
  for (const Beat& beat : beats_)
    if (beat.active && !beat.waiting) next = std::min(next, beat.next);
  return next;
}

/// A frame that is done wakes this thread only if something waits for it.
void ReleaseLoop::watch_groups() {
  for (std::size_t g = 0; g < beats_.size(); ++g)
    if (in_transition_ || beats_[g].waiting) parts_.groups[g]->watch();
}

void ReleaseLoop::add_to(std::size_t group, std::vector<OperationRecord>& operations) const {
  if (group >= beats_.size()) return;  // it was added, and the end came before its first frame
  for (std::size_t o = 0; o < operations.size(); ++o)
    operations[o].frames += beats_[group].counts[o];
}

}  // namespace millrace::runtime
