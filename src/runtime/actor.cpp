#include "runtime/actor.h"

#include <fmt/format.h>
#include <pthread.h>

#include <exception>

namespace millrace::runtime {
namespace {

bool wait_for_channels(const PhaseTask& phase) {
  for (Channel* channel : phase.incoming)
    if (!channel->wait_for_token()) return false;
  for (Channel* channel : phase.outgoing)
    if (!channel->wait_for_space()) return false;
  return true;
}

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
  auto released = Clock::now();
  for (std::int64_t frame = 0;; ++frame) {
    for (const PhaseTask& phase : stage.phases) {
      if (!wait_for_channels(phase)) return;
      const auto started = Clock::now();
      pointers.run(phase, frame);
      const auto ended = Clock::now();
      stage.activity.add(started - released, ended - started);
      release_channels(phase, frame);
      released = ended;
    }
    stage.activity.add_frame();
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
  for (const PhaseTask& phase : stage.phases)
    for (Channel* channel : phase.outgoing) channel->finish();
}

}  // namespace millrace::runtime
