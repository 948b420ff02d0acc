#include "runtime/controller/release_loop.h"

#include <fmt/format.h>

#include <algorithm>

namespace millrace::runtime {
namespace {

using schedule::Decision;

/// Nothing is due before that; long enough that the thread costs nothing.
constexpr Time nothing_due = std::chrono::seconds(1);

constexpr int level_bits = 16, scenario_bits = 16;
constexpr std::uint64_t low(int bits) { return (std::uint64_t{1} << bits) - 1; }

std::uint64_t number_of(std::uint64_t wish) { return wish >> (level_bits + scenario_bits); }
deployment::Wanted wanted_of(std::uint64_t wish) {
  return {system::ScenarioId((wish >> level_bits) & low(scenario_bits)),
          static_cast<std::int64_t>(wish & low(level_bits))};
}

Time time_of(Clock::time_point at) {
  return std::chrono::duration_cast<Time>(at.time_since_epoch());
}

}  // namespace

ReleaseLoop::ReleaseLoop(const Parts& parts)
    : deployment_(parts.deployment),
      groups_(groups_of(parts.groups)),
      clocks_(parts.clocks),
      signals_(parts.signals),
      releases_(parts.releases),
      patience_(parts.patience),
      machine_(*parts.deployment, releases_),
      costs_(parts.keep_costs) {}

ReleaseLoop::~ReleaseLoop() { delete extension_.load(); }

std::vector<ReleaseLoop::Group> ReleaseLoop::groups_of(
    const std::vector<ReleasedGroup*>& runners) const {
  const auto operations = system().scenarios.size() * static_cast<std::size_t>(system().levels);
  std::vector<Group> groups;
  for (ReleasedGroup* runs : runners)
    groups.push_back({runs, 0, {}, std::vector<schedule::FrameCounts>(operations), 0, {}});
  return groups;
}

void ReleaseLoop::extend(const deployment::Deployment& deployment,
                         std::vector<ReleasedGroup*> groups) {
  auto next = std::make_unique<Extension>();
  next->deployment = &deployment;
  next->groups = groups_of(groups);
  next->states = schedule::ReleaseMachine::states_of(deployment.system, releases_);
  delete extension_.exchange(next.release(), std::memory_order_acq_rel);
  signals_.releaser.notify();
}

void ReleaseLoop::ask(const deployment::Wanted& wanted) {
  const std::uint64_t target = (std::uint64_t{wanted.scenario.index} << level_bits) |
                               static_cast<std::uint64_t>(wanted.level);
  asked_at_ = time_of(Clock::now()).count();
  std::uint64_t before = asked_for_.load(std::memory_order_relaxed);
  while (!asked_for_.compare_exchange_weak(
      before, ((number_of(before) + 1) << (level_bits + scenario_bits)) | target,
      std::memory_order_acq_rel)) {
  }
  signals_.releaser.notify();
}

void ReleaseLoop::stop() {
  stopped_ = true;
  signals_.releaser.notify();
}

void ReleaseLoop::set_hot(bool is_hot) {
  if (hot_.exchange(is_hot) != is_hot) signals_.releaser.notify();
}

void ReleaseLoop::run(const deployment::Wanted& first) {
  begin(first);
  while (!stopped_ && !signals_.failed) {
    costs_.begin_wake_up();
    const std::uint32_t ticket = signals_.releaser.ticket();
    step(Clock::now());
    const auto next = next_step();
    if (next > Clock::time_point::min()) signals_.releaser.sleep_before(ticket, next);
  }
  while (const auto dropped = machine_.drop_waiting()) follow(*dropped, {});
  finish_groups();
}

void ReleaseLoop::step(Clock::time_point at) {
  const Time now = time_of(at);
  look_at_ends(now);
  look_at_wish(now);
  look_at_extension(now);
  machine_.set_hot(hot_, now);
  while (const auto decision = machine_.decide(now)) follow(*decision, now);
}

/// A frame that is done wakes this thread only if something waits for it.
Clock::time_point ReleaseLoop::next_step() {
  for (std::size_t g = 0; g < groups_.size(); ++g)
    if (machine_.waits_for(system::GroupId(g))) groups_[g].runs->watch();
  look_at_ends(time_of(Clock::now()));
  if (machine_.is_ready()) return Clock::time_point::min();
  const auto latest = Clock::now() + nothing_due;
  const Time due = machine_.next_due();
  return due < time_of(latest) ? Clock::time_point(due) : latest;
}

void ReleaseLoop::finish_groups() {
  for (const Group& group : groups_) group.runs->finish();
}

std::size_t ReleaseLoop::operation(const deployment::Wanted& at) const {
  return at.scenario.index * static_cast<std::size_t>(system().levels) +
         static_cast<std::size_t>(at.level);
}

void ReleaseLoop::look_at_ends(Time now) {
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    Group& group = groups_[g];
    const system::GroupId id(g);
    const std::int64_t ended = machine_.on_the_way(id) - group.runs->on_the_way();
    const std::int64_t missed = group.runs->missed();
    machine_.end_frames(id, ended, missed - group.missed);
    group.missed = missed;
    if (const Time overrun = ended > 0 ? group.runs->take_overrun() : Time{}; overrun > Time{}) {
      ++group.overruns;
      group.longest_overrun = std::max(group.longest_overrun, overrun);
      machine_.overrun(id, overrun, now);
    }
    look_for_stuck(g, ended, now);
  }
}

void ReleaseLoop::look_for_stuck(std::size_t index, std::int64_t ended, Time now) {
  Group& group = groups_[index];
  if (ended > 0 || machine_.on_the_way(system::GroupId(index)) == 0) group.moved = now;
  if (index >= patience_.size() || now - group.moved <= patience_[index]) return;
  signals_.error.set({fmt::format("group '{}' has ended no frame for {}, and {} are allowed; its "
                                  "tasks or their processors are stuck",
                                  system().groups[index].name, to_text(now - group.moved),
                                  to_text(patience_[index]))});
  signals_.failed = true;
}

void ReleaseLoop::look_at_wish(Time now) {
  const std::uint64_t asked_for = asked_for_.load(std::memory_order_acquire);
  const std::uint64_t newer = number_of(asked_for) - number_of(seen_);
  if (newer == 0) return;
  seen_ = asked_for;
  machine_.wish(wanted_of(asked_for), Time(asked_at_), now, static_cast<std::int64_t>(newer));
}

void ReleaseLoop::look_at_extension(Time now) {
  if (machine_.in_transition() || extension_.load(std::memory_order_relaxed) == nullptr) return;
  machine_.begin_extension(now);
}

void ReleaseLoop::follow(const Decision& decision, Time now) {
  if (decision.kind == Decision::Kind::enter) return enter(decision);
  groups_[decision.group.index].counts[operation(decision.at)].count(decision);
  if (decision.is_release()) release(decision, now);
}

/// All processors are idle.
void ReleaseLoop::enter(const Decision& decision) {
  const Time release = std::max(lateness_.largest(), system().overhead);
  if (decision.lasted > decision.bound + release) ++beyond_bound_;
  take_extension();
  const deployment::Setting* setting =
      deployment::setting_for(*deployment_, decision.at.scenario, decision.at.level);
  static const deployment::Clocks highest;
  clocks_.set(setting ? setting->clocks : highest);
}

void ReleaseLoop::take_extension() {
  std::unique_ptr<Extension> next(extension_.exchange(nullptr, std::memory_order_acq_rel));
  if (!next) return;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    std::swap(groups_[g].missed, next->groups[g].missed);
    std::swap(groups_[g].overruns, next->groups[g].overruns);
    std::swap(groups_[g].longest_overrun, next->groups[g].longest_overrun);
    groups_[g].counts.swap(next->groups[g].counts);
  }
  groups_.swap(next->groups);
  machine_.extend(*next->deployment, next->states);
  deployment_ = next->deployment;
  next->before = std::move(taken_);
  taken_ = std::move(next);
}

void ReleaseLoop::release(const Decision& decision, Time now) {
  if (decision.kind == Decision::Kind::release) lateness_.add(now - decision.due);
  costs_.begin_release();
  groups_[decision.group.index].runs->release(
      {Clock::time_point(decision.due), decision.deadline, operation(decision.at)});
  costs_.end_release();
}

void ReleaseLoop::add_to(std::size_t group, GroupRecord& record) const {
  if (group >= groups_.size()) return;
  record.overruns = groups_[group].overruns;
  record.longest_overrun = groups_[group].longest_overrun;
}

void ReleaseLoop::add_to(std::size_t group, std::vector<OperationRecord>& operations) const {
  if (group >= groups_.size()) return;  // it was added, and the end came before its first frame
  for (std::size_t o = 0; o < operations.size(); ++o)
    operations[o].frames += groups_[group].counts[o];
}

}  // namespace millrace::runtime
