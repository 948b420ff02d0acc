#include "runtime/graph/group_actor.h"

#include <algorithm>
#include <cstring>

namespace millrace::runtime {
namespace {

std::int64_t nanoseconds_now() {
  return std::chrono::duration_cast<Time>(Clock::now().time_since_epoch()).count();
}

}  // namespace

GroupActor::GroupActor(ActorPlan plan)
    : plan_(std::move(plan)),
      inputs_(plan_.inputs.size()),
      outputs_(plan_.outputs.size()),
      filled_inputs_(plan_.inputs.size()),
      firings_(static_cast<std::size_t>(plan_.trace_frames * plan_.firings)) {
  for (const auto& output : plan_.outputs)
    filled_.emplace_back(static_cast<std::size_t>(output.front()->produced_at_once()));
  filled_outputs_.assign(filled_.begin(), filled_.end());
}

bool GroupActor::run(const std::function<void(std::int64_t)>& done) {
  bool goes_on = true;
  for (std::int64_t frame = 0; goes_on && wait_for_release(frame); ++frame) {
    for (std::int64_t i = 0; goes_on && i < plan_.firings; ++i) goes_on = fire(frame);
    if (goes_on) done(frame);
  }
  if (state_ == State::left) return false;
  for (const auto& output : plan_.outputs)
    for (const auto& queue : output) queue->finish();
  return true;
}

bool GroupActor::wait_for_release(std::int64_t frame) {
  if (!plan_.waits_for_release) return true;
  const Counter::Value released = released_.wait(
      [&](Counter::Value value) { return value.exceeds(frame) || value.finished(); }, Time{});
  return released.exceeds(frame) && !released.closed();
}

bool GroupActor::fire(std::int64_t frame) {
  for (const auto& queue : plan_.inputs)
    if (!queue->wait_for_tokens()) return false;
  for (const auto& output : plan_.outputs)
    for (const auto& queue : output)
      if (!queue->wait_for_space()) return false;
  take_spans();
  const auto begin = Clock::now();
  if (!work({number_, false, inputs_, outputs_, &stopping_, filled_inputs_, filled_outputs_}))
    return false;
  ++number_;
  if (firings_.is_on()) firings_.add({frame, begin, Clock::now()});
  for (std::size_t o = 0; o < outputs_.size(); ++o)
    for (const auto& queue : plan_.outputs[o]) {
      const std::span<std::byte> memory = queue->to_write();
      if (memory.data() != outputs_[o].data()) std::ranges::copy(outputs_[o], memory.data());
      queue->write(filled_[o]);
    }
  for (const auto& queue : plan_.inputs) queue->read();
  return true;
}

void GroupActor::take_spans() {
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    inputs_[i] = plan_.inputs[i]->to_read();
    filled_inputs_[i] = plan_.inputs[i]->filled();
  }
  for (std::vector<std::uint8_t>& filled : filled_) std::ranges::fill(filled, std::uint8_t{1});
  for (std::size_t o = 0; o < outputs_.size(); ++o)
    outputs_[o] = plan_.outputs[o].front()->to_write();
}

bool GroupActor::work(const Firing& firing) {
  began_ns_ = nanoseconds_now();
  state_ = State::working;
  const auto back = [&] {
    State expected = State::working;
    return state_.compare_exchange_strong(expected, State::idle);
  };
  try {
    const bool goes_on = plan_.work(firing, times_);
    return back() && goes_on;
  } catch (...) {
    if (!back()) return false;  // nobody is there to hear of it
    throw;
  }
}

void GroupActor::close() {
  released_.close();
  for (const auto& queue : plan_.inputs) queue->close();
  for (const auto& output : plan_.outputs)
    for (const auto& queue : output) queue->close();
}

Time GroupActor::at_work() const {
  return state_ == State::working ? Time(nanoseconds_now() - began_ns_) : Time{};
}

bool GroupActor::leave() {
  State expected = State::working;
  return plan_.can_be_left && state_.compare_exchange_strong(expected, State::left);
}

}  // namespace millrace::runtime
