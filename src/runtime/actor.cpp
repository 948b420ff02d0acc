#include "runtime/actor.h"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <exception>
#include <mutex>

namespace millrace::runtime {
namespace {

/// The frames from the next one to the last that the phase works on at once with it. Which these
/// are depends on the cycle alone, so a batch that had to begin without some of its frames does not
/// change the following ones, and what the plan's graph says of them stays true.
std::int64_t rest_of_batch(const PhaseTask& phase) {
  return phase.batch - (phase.frame + phase.lag) % phase.batch;
}

/// With some token and space everywhere: how many frames there are to work on now. A batch is
/// complete, or as much of it as was submitted at all has arrived; else 0.
std::int64_t gathered(const PhaseTask& phase, Counter::Value submitted) {
  if (phase.batch == 1) return 1;
  const std::int64_t wanted = rest_of_batch(phase);
  std::int64_t frames = wanted;
  for (const Link& link : phase.incoming) frames = std::min(frames, link.at(phase.frame)->tokens());
  if (frames < wanted && submitted.exceeds(phase.frame + frames)) return 0;
  for (const Link& link : phase.outgoing)
    if (link.at(phase.frame)->spaces() < frames) return 0;
  return frames;
}

/// Whether the phase can fire; never: one of its channels has ended.
Readiness readiness(PhaseTask& phase, Counter::Value submitted) {
  for (const Link& link : phase.incoming)
    if (const Readiness token = link.at(phase.frame)->token(); token != Readiness::yes)
      return token;
  for (const Link& link : phase.outgoing)
    if (const Readiness space = link.at(phase.frame)->space(); space != Readiness::yes)
      return space;
  phase.ready = gathered(phase, submitted);
  return phase.ready > 0 ? Readiness::yes : Readiness::not_yet;
}

void watch_channels(const PhaseTask& phase) {
  for (const Link& link : phase.incoming) link.at(phase.frame)->watch_token();
  for (const Link& link : phase.outgoing) link.at(phase.frame)->watch_space();
}

void finish_channels(const PhaseTask& phase) {
  for (const Link& link : phase.outgoing) link.finish();
}

/// The phases that have not ended, in the order in which the plan's graph fires them next.
class Order {
 public:
  explicit Order(StageTask& stage) : stage_(stage) {
    for (PhaseTask& phase : stage.phases) phases_.push_back(&phase);
    std::stable_sort(phases_.begin(), phases_.end(), before);
  }

  /// The next phase, as soon as it can fire; null: all have ended.
  PhaseTask* next() {
    PhaseTask* found = nullptr;
    const auto settled = [&] { return (found = first_ready()) != nullptr || phases_.empty(); };
    while (true) {
      if (spin_until(settled, stage_.spin)) return found;
      if (is_frame_on_its_way() && spin_until(settled, stage_.spin_for_stages)) return found;
      const std::uint32_t ticket = stage_.bell.ticket();
      for (const PhaseTask* phase : phases_) watch_channels(*phase);
      stage_.submitted.watch();
      if (settled()) return found;
      stage_.bell.sleep(ticket);
    }
  }

  /// The phase has done the frames that were ready.
  void advance(PhaseTask* phase) {
    phase->frame += phase->ready * phase->step;
    auto here = std::find(phases_.begin(), phases_.end(), phase);
    for (; here + 1 != phases_.end() && before(here[1], here[0]); ++here)
      std::swap(here[0], here[1]);
  }

 private:
  static std::int64_t cycle_of(const PhaseTask& phase) {
    return phase.frame + phase.lag + rest_of_batch(phase) - 1;
  }

  /// Cycle, then place in the plan.
  static bool before(const PhaseTask* a, const PhaseTask* b) {
    const std::int64_t cycle_a = cycle_of(*a), cycle_b = cycle_of(*b);
    return cycle_a != cycle_b ? cycle_a < cycle_b : a < b;
  }

  bool is_frame_on_its_way() const {
    const Counter::Value submitted = stage_.submitted.read();
    return std::any_of(phases_.begin(), phases_.end(),
                       [&](const PhaseTask* phase) { return submitted.exceeds(phase->frame); });
  }

  /// The first of a frame that is on its way, if it can fire: to run a later one meanwhile would
  /// keep waiting all that wait for this one. Takes out phases before it that have ended.
  PhaseTask* first_ready() {
    const Counter::Value submitted = stage_.submitted.read();
    for (std::size_t i = 0; i < phases_.size();) {
      const Readiness ready = readiness(*phases_[i], submitted);
      if (ready == Readiness::yes) return phases_[i];
      if (ready == Readiness::never) {
        finish_channels(*phases_[i]);
        phases_.erase(phases_.begin() + static_cast<std::ptrdiff_t>(i));
      } else if (submitted.exceeds(phases_[i]->frame)) {
        return nullptr;
      } else {
        ++i;
      }
    }
    return nullptr;
  }

  StageTask& stage_;
  std::vector<PhaseTask*> phases_;
};

void release_channels(const PhaseTask& phase) {
  if (!phase.results.empty()) {
    const auto now = Clock::now();
    for (Moments* moments : phase.results)
      for (std::int64_t i = 0; i < phase.ready; ++i) moments->of(phase.frame + i) = now;
  }
  for (const Link& link : phase.outgoing) link.at(phase.frame)->push(phase.ready);
  for (const Link& link : phase.incoming) link.at(phase.frame)->pop(phase.ready);
}

void run_on(engine::Subnet& subnet, PhaseTask& phase, std::int64_t frame, std::int64_t count) {
  const auto in = phase.inputs.gather(frame, count);
  const auto out = phase.outputs.prepare(frame, count);
  subnet.run(in, out);
  phase.outputs.scatter(frame, count);
}

/// A subnet for several frames takes the time of all of them, so up to half of them go one by one.
void run_phase(PhaseTask& phase) {
  if (!phase.prepared.of_one || 2 * phase.ready > phase.batch)
    return run_on(*phase.prepared.subnet, phase, phase.frame, phase.ready);
  for (std::int64_t i = 0; i < phase.ready; ++i)
    run_on(*phase.prepared.of_one, phase, phase.frame + i, 1);
}

/// The phase's frames that are ready. `released`: when the stage began to wait for them; when it
/// ended is returned.
Clock::time_point fire(StageTask& stage, PhaseTask& phase, Clock::time_point released) {
  const std::lock_guard passing(stage.gate);
  const auto started = Clock::now();
  run_phase(phase);
  const auto ended = Clock::now();
  stage.activity.add(started - released, ended - started);
  if (stage.firings.is_on())
    stage.firings.add({static_cast<std::size_t>(&phase - stage.phases.data()), phase.frame,
                       phase.ready, released, started, ended});
  release_channels(phase);
  if (&phase == &stage.phases.back()) stage.activity.add_frames(phase.ready);
  return ended;
}

void run_frames(StageTask& stage) {
  Order order(stage);
  auto released = Clock::now();
  while (PhaseTask* phase = order.next()) {
    released = fire(stage, *phase, released);
    order.advance(phase);
  }
}

/// Waits for frames that no other replica has; nothing: none will come.
std::optional<Shared::Claim> claim_frames(StageTask& stage) {
  std::optional<Shared::Claim> frames;
  const auto settled = [&] {
    const Counter::Value submitted = stage.submitted.read();
    if (!submitted.closed()) frames = stage.shared->claim(submitted, stage.group->most());
    return frames || submitted.finished();
  };
  while (!spin_until(settled, stage.spin)) {
    const std::uint32_t ticket = stage.bell.ticket();
    stage.submitted.watch();
    if (settled()) break;
    stage.bell.sleep(ticket);
  }
  return frames;
}

void run_shared_frames(StageTask& stage) {
  plan::Group& group = *stage.group;
  auto released = Clock::now();
  while (const auto frames = claim_frames(stage)) {
    group.take(frames->first, frames->count);
    while (const auto step = group.next()) {
      PhaseTask& phase = stage.phases[step->phase];
      phase.frame = step->frame;
      phase.ready = step->count;
      released = fire(stage, phase, released);
      group.end(*step);
      if (&phase != &stage.phases.back()) continue;
      for (std::int64_t i = 0; i < step->count; ++i) stage.shared->complete(step->frame + i);
    }
  }
}

void name_this_thread(const std::string& name) {
  constexpr std::size_t longest = 15;
  ::pthread_setname_np(::pthread_self(), name.substr(0, longest).c_str());
}

}  // namespace

void Activity::add(Time waiting, Time busy) {
  waiting_.fetch_add(waiting.count(), std::memory_order_relaxed);
  busy_.fetch_add(busy.count(), std::memory_order_relaxed);
}

void run_stage(StageTask& stage, const std::function<void(const Failure&)>& fail) {
  const auto where = [&] { return fmt::format("{} on {}", stage.name, stage.processor.name); };
  try {
    name_this_thread(stage.name);
    if (stage.pin) board::pin_this_thread(stage.processor);
    stage.shared == nullptr ? run_frames(stage) : run_shared_frames(stage);
  } catch (const InputError& error) {
    fail({fmt::format("{}: {}", where(), error.what()), true});
  } catch (const std::exception& error) {
    fail({fmt::format("{}: {}", where(), error.what())});
  } catch (...) {
    fail({fmt::format("{}: an exception of unknown type", where())});
  }
  for (const PhaseTask& phase : stage.phases) finish_channels(phase);
}

}  // namespace millrace::runtime
