#include "runtime/actor.h"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <exception>

namespace millrace::runtime {
namespace {

/// Whether the phase can fire; never: one of its channels has ended.
Readiness readiness(const PhaseTask& phase) {
  for (Channel* channel : phase.incoming)
    if (const Readiness token = channel->token(); token != Readiness::yes) return token;
  for (Channel* channel : phase.outgoing)
    if (const Readiness space = channel->space(); space != Readiness::yes) return space;
  return Readiness::yes;
}

void watch_channels(const PhaseTask& phase) {
  for (Channel* channel : phase.incoming) channel->watch_token();
  for (Channel* channel : phase.outgoing) channel->watch_space();
}

void finish_channels(const PhaseTask& phase) {
  for (Channel* channel : phase.outgoing) channel->finish();
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
    if (spin_until(settled, stage_.spin)) return found;
    while (true) {
      const std::uint32_t ticket = stage_.bell.ticket();
      for (const PhaseTask* phase : phases_) watch_channels(*phase);
      stage_.submitted.watch();
      if (settled()) return found;
      stage_.bell.sleep(ticket);
    }
  }

  /// The phase has done its frame.
  void advance(PhaseTask* phase) {
    ++phase->frame;
    auto here = std::find(phases_.begin(), phases_.end(), phase);
    for (; here + 1 != phases_.end() && before(here[1], here[0]); ++here)
      std::swap(here[0], here[1]);
  }

 private:
  /// Cycle, then place in the plan.
  static bool before(const PhaseTask* a, const PhaseTask* b) {
    const std::int64_t cycle_a = a->frame + a->lag, cycle_b = b->frame + b->lag;
    return cycle_a != cycle_b ? cycle_a < cycle_b : a < b;
  }

  /// The first of a frame that is on its way, if it can fire: to run a later one meanwhile would
  /// keep waiting all that wait for this one. Takes out phases before it that have ended.
  PhaseTask* first_ready() {
    const Counter::Value submitted = stage_.submitted.read();
    for (std::size_t i = 0; i < phases_.size();) {
      const Readiness ready = readiness(*phases_[i]);
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

void release_channels(const PhaseTask& phase, std::int64_t frame) {
  if (!phase.results.empty()) {
    const auto now = Clock::now();
    for (Moments* ready : phase.results) ready->of(frame) = now;
  }
  for (Channel* channel : phase.outgoing) channel->push();
  for (Channel* channel : phase.incoming) channel->pop();
}

/// The frame's slots, in the order of the subnet's ports.
class Pointers {
 public:
  void run(const PhaseTask& phase, std::int64_t frame) {
    in_.clear();
    out_.clear();
    for (Slots* slots : phase.inputs) in_.push_back(slots->of(frame));
    for (Slots* slots : phase.outputs) out_.push_back(slots->of(frame));
    phase.subnet->run(in_, out_);
  }

 private:
  std::vector<const std::byte*> in_;
  std::vector<std::byte*> out_;
};

void run_frames(StageTask& stage) {
  Pointers pointers;
  Order order(stage);
  auto released = Clock::now();
  while (PhaseTask* phase = order.next()) {
    const auto started = Clock::now();
    pointers.run(*phase, phase->frame);
    const auto ended = Clock::now();
    stage.activity.add(started - released, ended - started);
    release_channels(*phase, phase->frame);
    order.advance(phase);
    if (phase == &stage.phases.back()) stage.activity.add_frame();
    released = ended;
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

void run_stage(StageTask& stage, const std::function<void(const std::string&)>& fail) {
  const auto where = [&] { return fmt::format("{} on {}", stage.name, stage.processor.name); };
  try {
    name_this_thread(stage.name);
    if (stage.pin) board::pin_this_thread(stage.processor);
    run_frames(stage);
  } catch (const std::exception& error) {
    fail(fmt::format("{}: {}", where(), error.what()));
  } catch (...) {
    fail(fmt::format("{}: an exception of unknown type", where()));
  }
  for (const PhaseTask& phase : stage.phases) finish_channels(phase);
}

}  // namespace millrace::runtime
