#include "runtime/controller/group_runner.h"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>

#include "network/random_values.h"
#include "runtime/scheduling/thread_priority.h"

namespace millrace::runtime {
namespace {

SessionOptions session_options(const GroupPlace& place) {
  SessionOptions options;
  options.pin = place.pin;
  options.spin = options.spin_for_stages = options.caller_spin = {};
  options.trace_frames = place.trace_frames;
  if (place.priority > 0) options.priorities = {place.priority};
  options.note = place.note;
  options.core_times = true;
  return options;
}

/// Stands for a step that the deployment has and the caller does not.
void spend_on_core(Time time) {
  const Time end = time_on_core() + time;
  while (time_on_core() < end) {
  }
}

/// So many frames pass each slot.
std::int64_t frames_of_warm_up(const plan::Plan& plan) {
  std::int64_t most = 1;
  for (const plan::Channel& channel : plan.channels) most = std::max(most, channel.capacity);
  return 2 * most;
}

}  // namespace

GroupRunner::GroupRunner(GroupPlace place, GroupToRun group, ControllerSignals& signals)
    : place_(std::move(place)),
      group_(std::move(group)),
      signals_(signals),
      session_(deploy(place_.plan, *group_.network, group_.engines, session_options(place_))),
      frames_(static_cast<std::size_t>(place_.most)),
      done_(signals.releaser),
      ended_(place_.operations) {
  kept_responses_.reserve(place_.keep_responses);
  warm_up();
}

GroupRunner::~GroupRunner() {
  released_.close();
  session_.stop();
  join();
}

/// All memory is touched, and all inputs hold random values, before the first frame counts.
void GroupRunner::warm_up() {
  Random random(place_.seed);
  const auto fill_all = [&](std::span<const std::span<std::byte>> inputs) {
    for (std::size_t i = 0; i < inputs.size(); ++i)
      network::fill_random(inputs[i], (*group_.network)[group_.network->inputs[i]].type, random);
    fill(inputs);
  };
  for (std::int64_t frame = 0; frame < frames_of_warm_up(place_.plan); ++frame) {
    session_.submit_in_place(fill_all);
    session_.next_in_place([&](auto outputs) { use(outputs); });
  }
  session_.forget_times();
}

void GroupRunner::start() {
  back_ = std::thread([this] { guarded([this] { run_back(); }); });
  front_ = std::thread([this] { guarded([this] { run_front(); }); });
}

std::int64_t GroupRunner::on_the_way() const {
  constexpr std::uint32_t mask = (1u << 29) - 1;  // as counters wrap
  return (released_.read().count() - done_.read().count()) & mask;
}

void GroupRunner::release(const ReleasedFrame& frame) {
  frames_[static_cast<std::size_t>(last_released_) % frames_.size()] = frame;
  ++last_released_;
  released_.raise();
}

Clock::time_point GroupRunner::last_deadline() const {
  auto latest = Clock::time_point::min();
  for (std::int64_t i = 1; i <= std::min(on_the_way(), last_released_); ++i) {
    const auto slot = static_cast<std::size_t>(last_released_ - i) % frames_.size();
    latest = std::max(latest, frames_[slot].due + frames_[slot].deadline);
  }
  return latest;
}

void GroupRunner::join() {
  if (front_.joinable()) front_.join();
  if (back_.joinable()) back_.join();
  session_.stop();
}

void GroupRunner::fill(std::span<const std::span<std::byte>> inputs) {
  if (group_.preprocess)
    group_.preprocess(inputs);
  else if (!place_.front.task.empty())
    spend_on_core(place_.front.worst);
}

void GroupRunner::use(std::span<const std::span<const std::byte>> outputs) {
  if (group_.postprocess)
    group_.postprocess(outputs);
  else if (!place_.back.task.empty())
    spend_on_core(place_.back.worst);
}

void GroupRunner::enter(const StepPlace& place, const char* suffix) const {
  constexpr std::size_t longest = 15;
  ::pthread_setname_np(::pthread_self(), (place_.name + suffix).substr(0, longest).c_str());
  if (place_.pin && place.processor) board::pin_this_thread(*place.processor);
  if (session_.has_priorities()) set_priority_of_this_thread(place_.priority);
}

/// An error ends the group, and lets the release thread end the others.
template <class Work>
void GroupRunner::guarded(const Work& work) {
  try {
    work();
    return;
  } catch (const InputError& error) {
    signals_.error.set({fmt::format("group '{}': {}", place_.name, error.what()), true});
  } catch (const std::exception& error) {
    signals_.error.set({fmt::format("group '{}': {}", place_.name, error.what())});
  }
  signals_.failed = true;
  released_.close();
  session_.stop();
  signals_.releaser.notify();
}

void GroupRunner::run_front() {
  enter(place_.front, " pre");
  const auto fill_timed = [this](std::span<const std::span<std::byte>> inputs) {
    const Time begin = time_on_core();
    fill(inputs);
    front_times_.add(time_on_core() - begin);
  };
  const Session::Fill filling = std::cref(fill_timed);
  for (std::int64_t frame = 0;; ++frame) {
    const Counter::Value released = released_.wait(
        [&](Counter::Value value) { return value.exceeds(frame) || value.finished(); }, Time{});
    if (!released.exceeds(frame) || released.closed()) break;
    if (!session_.submit_in_place(filling)) break;
  }
  session_.finish();
  front_preemptions_ = preemptions_of_this_thread();
}

void GroupRunner::run_back() {
  enter(place_.back, " post");
  const auto use_timed = [this](std::span<const std::span<const std::byte>> outputs) {
    const Time begin = time_on_core();
    use(outputs);
    back_times_.add(time_on_core() - begin);
  };
  const Session::Use using_outputs = std::cref(use_timed);
  for (std::int64_t frame = 0; session_.next_in_place(using_outputs); ++frame) end_frame(frame);
  back_preemptions_ = preemptions_of_this_thread();
}

void GroupRunner::end_frame(std::int64_t frame) {
  const ReleasedFrame& released = frames_[static_cast<std::size_t>(frame) % frames_.size()];
  const Time response = Clock::now() - released.due;
  responses_.add(response);
  if (kept_responses_.size() < place_.keep_responses) kept_responses_.push_back(response);
  Ended& ended = ended_[released.operation];
  ++ended.done;
  ended.largest = std::max(ended.largest, response);
  if (response > released.deadline) {
    ++ended.missed;
    missed_.fetch_add(1, std::memory_order_relaxed);
  }
  done_.raise();
}

void GroupRunner::add_to(GroupRecord& record, std::vector<OperationRecord>& operations) const {
  record.name = place_.name;
  record.responses = responses_;
  record.kept_responses = kept_responses_;
  record.preemptions = session_.preemptions() + front_preemptions_ + back_preemptions_;
  for (std::size_t o = 0; o < ended_.size(); ++o) {
    operations[o].frames.done += ended_[o].done;
    operations[o].frames.missed += ended_[o].missed;
    operations[o].largest = ended_[o].largest;
  }
  const auto add = [&](const StepPlace& step, const PhaseTimes& times) {
    if (step.task.empty()) return;
    record.tasks.push_back({step.task,
                            step.processor ? step.processor->name : "",
                            {times.runs, Time(times.sum_ns), Time(times.largest_ns)}});
  };
  add(place_.front, front_times_);
  const auto phases = session_.times_of_phases();
  std::size_t actor = 0;
  for (const plan::Stage& stage : place_.plan.stages)
    for (std::size_t r = 0; r < stage.processors.size(); ++r, ++actor)
      for (std::size_t p = 0; p < phases[actor].size(); ++p) {
        const std::string name = plan::name_of(stage, r);
        record.tasks.push_back({p == 0 ? name : fmt::format("{}.{}", name, p),
                                stage.processors[r].name, phases[actor][p]});
      }
  add(place_.back, back_times_);
}

}  // namespace millrace::runtime
