#include "runtime/actor.h"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <cfenv>
#include <exception>
#include <mutex>

#include "runtime/scheduling/thread_priority.h"

namespace millrace::runtime {
namespace {

void finish_channels(const PhaseTask& phase) {
  for (const Link& link : phase.outgoing) link.finish();
}

/// A stage's channels as the firing rule asks for them, at one moment.
class Channels {
 public:
  explicit Channels(StageTask& stage) : stage_(stage), submitted_(stage.submitted.read()) {}

  Readiness token(std::size_t phase, std::int64_t frame) const {
    for (const Link& link : stage_.phases[phase].incoming)
      if (const Readiness token = link.at(frame)->token(); token != Readiness::yes) return token;
    return Readiness::yes;
  }
  Readiness space(std::size_t phase, std::int64_t frame) const {
    for (const Link& link : stage_.phases[phase].outgoing)
      if (const Readiness space = link.at(frame)->space(); space != Readiness::yes) return space;
    return Readiness::yes;
  }
  std::int64_t tokens(std::size_t phase, std::int64_t frame) const {
    std::int64_t least = stage_.phases[phase].batch;
    for (const Link& link : stage_.phases[phase].incoming)
      least = link.tokens(frame, stage_.order[phase].step, least);
    return least;
  }
  std::int64_t spaces(std::size_t phase, std::int64_t frame) const {
    std::int64_t least = stage_.phases[phase].batch;
    for (const Link& link : stage_.phases[phase].outgoing)
      least = link.spaces(frame, stage_.order[phase].step, least);
    return least;
  }
  bool is_submitted(std::int64_t frame) const { return submitted_.exceeds(frame); }
  void end(std::size_t phase) { finish_channels(stage_.phases[phase]); }

 private:
  StageTask& stage_;
  Counter::Value submitted_;
};

bool is_frame_on_its_way(StageTask& stage) {
  const Channels channels(stage);
  const auto& phases = stage.order.phases();
  return std::any_of(phases.begin(), phases.end(), [&](std::size_t phase) {
    return channels.is_submitted(stage.order[phase].frame);
  });
}

void watch_channels(StageTask& stage) {
  for (const std::size_t phase : stage.order.phases()) {
    const schedule::PhaseState& state = stage.order[phase];
    const schedule::Firing wanted{phase, state.frame, state.rest_of_batch(), state.step};
    for (const Link& link : stage.phases[phase].incoming) link.watch_tokens(wanted);
    for (const Link& link : stage.phases[phase].outgoing) link.watch_spaces(wanted);
  }
  stage.submitted.watch();
}

/// The next firing, as soon as it can begin; nothing: all phases have ended.
std::optional<schedule::Firing> next_firing(StageTask& stage) {
  std::optional<schedule::Firing> found;
  const auto settled = [&] {
    found = stage.order.next(Channels(stage));
    return found || stage.order.phases().empty();
  };
  while (true) {
    if (spin_until(settled, stage.spin)) return found;
    if (is_frame_on_its_way(stage) && spin_until(settled, stage.spin_for_stages)) return found;
    const std::uint32_t ticket = stage.event_count.ticket();
    watch_channels(stage);
    if (settled()) return found;
    stage.event_count.sleep(ticket);
  }
}

void release_channels(const PhaseTask& phase, const schedule::Firing& firing) {
  if (!phase.results.empty()) {
    const auto now = Clock::now();
    for (TimeStamps* stamps : phase.results)
      for (std::int64_t i = 0; i < firing.count; ++i)
        stamps->of(firing.frame + i * firing.step) = now;
  }
  for (const Link& link : phase.outgoing) link.push(firing);
  for (const Link& link : phase.incoming) link.pop(firing);
}

void run_on(engine::Subnet& subnet, PhaseTask& phase, const schedule::Firing& frames) {
  const auto in = phase.inputs.gather(frames);
  const auto out = phase.outputs.prepare(frames);
  subnet.run(in, out);
  phase.outputs.scatter(frames);
}

/// A subnet for several frames takes the time of all of them, so up to half of them go one by one.
void run_phase(PhaseTask& phase, const schedule::Firing& firing) {
  if (!phase.prepared.of_one || 2 * firing.count > phase.batch)
    return run_on(*phase.prepared.subnet, phase, firing);
  for (std::int64_t i = 0; i < firing.count; ++i)
    run_on(*phase.prepared.of_one, phase, {firing.phase, firing.frame + i * firing.step});
}

/// The processor remembers it at no cost; only of the calling thread's share of the work.
void note_invalid(StageTask& stage, const schedule::Firing& firing) {
  if (stage.invalid_frames.are_set() || std::fetestexcept(FE_INVALID) == 0) return;
  stage.invalid_frames.set(firing.frame, firing.frame + (firing.count - 1) * firing.step);
}

/// `released`: when the stage began to wait for it; when it ended is returned.
Clock::time_point fire(StageTask& stage, const schedule::Firing& firing,
                       Clock::time_point released) {
  PhaseTask& phase = stage.phases[firing.phase];
  const std::lock_guard passing(stage.gate);
  const bool is_timed = !stage.core_times.empty();
  const auto started = Clock::now();
  const Time on_core = is_timed ? time_on_core() : Time{};
  run_phase(phase, firing);
  note_invalid(stage, firing);
  const Time spent = is_timed ? time_on_core() - on_core : Time{};
  const auto ended = Clock::now();
  // While another device works, its thread may sleep.
  const bool is_core = stage.processor.kind == board::ProcessorKind::cpu;
  if (is_timed) stage.core_times[firing.phase].add(is_core ? spent : Time(ended - started));
  const bool ends_frames = &phase == &stage.phases.back();
  stage.activity.add(ends_frames ? firing.count : 0, ended - started, started - released);
  if (stage.firings.is_on()) stage.firings.add({firing, released, started, ended});
  release_channels(phase, firing);
  return ended;
}

void run_frames(StageTask& stage) {
  auto released = Clock::now();
  while (const auto firing = next_firing(stage)) {
    released = fire(stage, *firing, released);
    stage.order.advance(*firing);
  }
}

/// Waits for frames that no other replica has; nothing: none will come.
std::optional<Shared::Claim> claim_frames(StageTask& stage) {
  std::optional<Shared::Claim> frames;
  const auto settled = [&] {
    const Counter::Value submitted = stage.submitted.read();
    if (!submitted.closed()) frames = stage.shared->claim(submitted, stage.claimed->most());
    return frames || submitted.finished();
  };
  while (!spin_until(settled, stage.spin)) {
    const std::uint32_t ticket = stage.event_count.ticket();
    stage.submitted.watch();
    if (settled()) break;
    stage.event_count.sleep(ticket);
  }
  return frames;
}

void run_shared_frames(StageTask& stage) {
  schedule::ClaimedFrames& claimed = *stage.claimed;
  auto released = Clock::now();
  while (const auto frames = claim_frames(stage)) {
    claimed.claim(frames->first, frames->count);
    while (const auto firing = claimed.next()) {
      released = fire(stage, *firing, released);
      claimed.end(*firing);
      if (firing->phase + 1 < claimed.phases()) continue;
      for (std::int64_t i = 0; i < firing->count; ++i) stage.shared->complete(firing->frame + i);
    }
  }
}

void name_this_thread(const std::string& name) {
  constexpr std::size_t longest = 15;
  ::pthread_setname_np(::pthread_self(), name.substr(0, longest).c_str());
}

}  // namespace

void Activity::add(std::int64_t frames, Time busy, Time waiting) {
  constexpr auto relaxed = std::memory_order_relaxed, release = std::memory_order_release;
  const std::uint32_t writes = writes_.load(relaxed);
  writes_.store(writes + 1, relaxed);
  frames_.store(frames_.load(relaxed) + frames, release);  // not before the line above
  busy_.store(busy_.load(relaxed) + busy.count(), release);
  waiting_.store(waiting_.load(relaxed) + waiting.count(), release);
  writes_.store(writes + 2, release);
}

void PhaseTimes::add(Time time) {
  constexpr auto relaxed = std::memory_order_relaxed;
  runs.fetch_add(1, relaxed);
  sum_ns.fetch_add(time.count(), relaxed);
  if (time.count() > largest_ns.load(relaxed)) largest_ns.store(time.count(), relaxed);
}

Activity::Totals Activity::totals() const {
  constexpr auto acquire = std::memory_order_acquire;
  for (;;) {
    const std::uint32_t writes = writes_.load(acquire);
    const Totals found{frames_.load(acquire), Time(busy_.load(acquire)),
                       Time(waiting_.load(acquire))};
    if (writes % 2 == 0 && writes_.load(std::memory_order_relaxed) == writes) return found;
  }
}

void run_stage(StageTask& stage, const std::function<void(const Failure&)>& fail) {
  const auto where = [&] { return fmt::format("{} on {}", stage.name, stage.processor.name); };
  try {
    name_this_thread(stage.name);
    if (stage.pin) board::pin_this_thread(stage.processor);
    if (stage.priority > 0) set_priority_of_this_thread(stage.priority);
    std::feclearexcept(FE_ALL_EXCEPT);
    stage.shared == nullptr ? run_frames(stage) : run_shared_frames(stage);
  } catch (const InputError& error) {
    fail({fmt::format("{}: {}", where(), error.what()), true});
  } catch (const std::exception& error) {
    fail({fmt::format("{}: {}", where(), error.what()), false, stage.processor.name});
  } catch (...) {
    fail({fmt::format("{}: an exception of unknown type", where())});
  }
  stage.preemptions = preemptions_of_this_thread();
  for (const PhaseTask& phase : stage.phases) finish_channels(phase);
}

}  // namespace millrace::runtime
