#include "simulate/pipeline.h"

#include <algorithm>
#include <tuple>

#include "plan/build.h"
#include "plan/steps.h"

namespace millrace::simulate {
namespace {

/// What a channel of the runtime can count.
constexpr std::int64_t largest_sum = (std::int64_t{1} << 24) - 1;

std::int64_t sum_of_capacities(const std::vector<plan::Channel>& channels) {
  std::int64_t sum = 0;
  for (const plan::Channel& channel : channels) sum = std::min(sum + channel.capacity, largest_sum);
  return sum;
}

void add_once(std::vector<std::size_t>& to, std::size_t value) {
  if (std::find(to.begin(), to.end(), value) == to.end()) to.push_back(value);
}

}  // namespace

Pipeline::Pipeline(const plan::Plan& plan, Order order, std::int64_t in_flight)
    : order_(order), round_(plan::round_of(plan)) {
  most_on_their_way_ = 1 + sum_of_capacities(plan.channels);
  if (order == Order::submitted && plan::is_shared(plan)) shared_.emplace();
  for (const plan::Stage& stage : plan.stages) add_stage(stage);
  for (const plan::Channel& channel : plan.channels)
    add_channel(channel, plan::turn_of(plan, channel));
  add_tickets(plan);
  if (in_flight > 0) most_on_their_way_ = std::min(most_on_their_way_, in_flight);
  sort_orders();
}

void Pipeline::add_stage(const plan::Stage& planned) {
  Stage& stage = stages_.emplace_back();
  const plan::Turn turn = shared_ ? plan::Turn{} : planned.turn;
  for (const plan::Phase& phase : planned.phases) {
    stage.order.push_back(stage.phases.size());
    stage.phases.push_back(
        {phase.lag, phase.batch, turn.of, counts_.size(), {}, {}, {stages_.size() - 1}});
    counts_.push_back(turn.index);
  }
  if (!shared_) return;
  for (auto* each : {&shared_->given, &shared_->taken}) {
    each->push_back(counts_.size());
    counts_.push_back(0);
  }
  shared_->to_do.emplace_back();
}

std::size_t Pipeline::count_of(const plan::Endpoint& end) const {
  return stages_[end.stage].phases[end.phase].count;
}

void Pipeline::add_channel(const plan::Channel& planned, const plan::Turn& turn) {
  Channel channel{caller_in, caller_out, planned.capacity / turn.of, shared_ ? plan::Turn{} : turn};
  channel.stage = planned.from.is_outside() ? planned.to.stage : planned.from.stage;
  if (shared_ && channel.stage != plan::Endpoint::outside) {
    channel.from = shared_->given[channel.stage];
    channel.to = shared_->taken[channel.stage];
  }
  if (!planned.from.is_outside()) channel.from = count_of(planned.from);
  if (!planned.to.is_outside()) channel.to = count_of(planned.to);
  if (planned.from.is_outside()) {
    from_caller_.push_back(channel);
    if (!planned.to.is_outside()) add_once(woken_by_submit_, planned.to.stage);
  } else {
    Phase& writer = stages_[planned.from.stage].phases[planned.from.phase];
    writer.outgoing.push_back(channel);
    if (!planned.to.is_outside()) add_once(writer.wakes, planned.to.stage);
  }
  if (planned.to.is_outside()) {
    to_caller_.push_back(channel);
    if (!planned.from.is_outside()) add_once(woken_by_take_, planned.from.stage);
  } else {
    Phase& reader = stages_[planned.to.stage].phases[planned.to.phase];
    reader.incoming.push_back(channel);
    if (!planned.from.is_outside()) add_once(reader.wakes, planned.from.stage);
  }
}

/// As the runtime: a phase that reads only constants gets one token per frame.
void Pipeline::add_tickets(const plan::Plan& plan) {
  for (std::size_t s = 0; s < stages_.size(); ++s)
    for (Phase& phase : stages_[s].phases) {
      if (!phase.incoming.empty()) continue;
      Channel ticket{caller_in, phase.count, most_on_their_way_, plan.stages[s].turn, s};
      if (shared_) ticket.from = shared_->given[s], ticket.turn = {};
      phase.incoming.push_back(ticket);
      from_caller_.push_back(phase.incoming.back());
      add_once(woken_by_submit_, s);
    }
}

void Pipeline::sort_orders() {
  for (Stage& stage : stages_)
    std::sort(stage.order.begin(), stage.order.end(),
              [&](std::size_t a, std::size_t b) { return is_before(stage, a, b); });
}

/// The frames from the next one to the last that the phase works on at once with it.
std::int64_t Pipeline::rest_of_batch(const Phase& phase) const {
  if (phase.batch == 1) return 1;
  return phase.batch - (frame_of(phase) + phase.lag) % phase.batch;
}

std::int64_t Pipeline::cycle_of(const Phase& phase) const {
  return frame_of(phase) + phase.lag + rest_of_batch(phase) - 1;
}

/// Cycle, then place in the plan.
bool Pipeline::is_before(const Stage& stage, std::size_t a, std::size_t b) const {
  const std::int64_t cycle_a = cycle_of(stage.phases[a]), cycle_b = cycle_of(stage.phases[b]);
  return cycle_a != cycle_b ? cycle_a < cycle_b : a < b;
}

/// With some token and space everywhere: how many frames there are to work on now, or 0.
std::int64_t Pipeline::gathered(const Phase& phase) const {
  const std::int64_t wanted = rest_of_batch(phase);
  std::int64_t frames = wanted;
  for (const Channel& channel : phase.incoming) frames = std::min(frames, tokens(channel));
  const bool more_come = order_ == Order::graph || submitted() > frame_of(phase) + frames;
  if (frames < wanted && more_come) return 0;
  for (const Channel& channel : phase.outgoing)
    if (channel.capacity - tokens(channel) < frames) return 0;
  return frames;
}

std::int64_t Pipeline::ready_frames(const Phase& phase) const {
  const std::int64_t frame = frame_of(phase);
  for (const Channel& channel : phase.incoming)
    if (channel.turn.is_of(frame) && tokens(channel) <= 0) return 0;
  for (const Channel& channel : phase.outgoing)
    if (channel.turn.is_of(frame) && tokens(channel) >= channel.capacity) return 0;
  return phase.batch == 1 ? 1 : gathered(phase);
}

std::int64_t Pipeline::submitted_to(std::size_t stage) const {
  return shared_ ? counts_[shared_->given[stage]] : submitted();
}

std::optional<Firing> Pipeline::next(std::size_t index) {
  Stage& stage = stages_[index];
  stage.woken = false;
  for (const std::size_t p : stage.order) {
    const Phase& phase = stage.phases[p];
    if (const std::int64_t frames = ready_frames(phase); frames > 0)
      return Firing{p, shared_ ? shared_->to_do[index].front() : frame_of(phase), frames};
    if (order_ == Order::graph || submitted_to(index) > frame_of(phase)) return std::nullopt;
  }
  return std::nullopt;
}

void Pipeline::end(std::size_t index, const Firing& firing) {
  Stage& stage = stages_[index];
  const Phase& phase = stage.phases[firing.phase];
  frame_of(phase) += firing.count * phase.step;
  if (shared_) shared_->to_do[index].pop_front();
  for (const std::size_t other : phase.wakes) stages_[other].woken = true;
  auto here = std::find(stage.order.begin(), stage.order.end(), firing.phase);
  for (; here + 1 != stage.order.end() && is_before(stage, here[1], here[0]); ++here)
    std::swap(here[0], here[1]);
}

std::size_t Pipeline::next_copy() const {
  const std::size_t copies = stages_.size();
  const auto first = static_cast<std::size_t>(submitted()) % copies;
  std::size_t best = first;
  std::int64_t most = -1;
  for (std::size_t i = 0; i < copies; ++i) {
    const std::size_t copy = (first + i) % copies;
    std::int64_t spaces = largest_sum;
    for (const Channel& channel : from_caller_)
      if (is_for(channel, copy, submitted()))
        spaces = std::min(spaces, channel.capacity - tokens(channel));
    if (spaces > most) std::tie(best, most) = std::tie(copy, spaces);
  }
  return best;
}

bool Pipeline::may_submit() const {
  if (submitted() - taken() >= most_on_their_way_) return false;
  const std::size_t copy = shared_ ? next_copy() : 0;
  return std::all_of(from_caller_.begin(), from_caller_.end(), [&](const Channel& channel) {
    return !is_for(channel, copy, submitted()) || tokens(channel) < channel.capacity;
  });
}

void Pipeline::submit() {
  if (shared_) {
    const std::size_t copy = next_copy();
    ++counts_[shared_->given[copy]];
    shared_->to_do[copy].push_back(submitted());
    shared_->on_their_way.push_back(copy);
  }
  ++counts_[caller_in];
  for (const std::size_t stage : woken_by_submit_) stages_[stage].woken = true;
}

bool Pipeline::may_take() const {
  if (submitted() == taken()) return false;
  const std::size_t copy = shared_ ? shared_->on_their_way.front() : 0;
  return std::all_of(to_caller_.begin(), to_caller_.end(), [&](const Channel& channel) {
    return !is_for(channel, copy, taken()) || tokens(channel) > 0;
  });
}

void Pipeline::take() {
  if (shared_) {
    ++counts_[shared_->taken[shared_->on_their_way.front()]];
    shared_->on_their_way.pop_front();
  }
  ++counts_[caller_out];
  for (const std::size_t stage : woken_by_take_) stages_[stage].woken = true;
}

void Pipeline::add_state(std::vector<std::int64_t>& state) const {
  state.push_back(taken() % round_);
  if (!shared_) {
    for (const std::int64_t count : counts_) state.push_back(count - taken());
    return;
  }
  for (std::size_t s = 0; s < stages_.size(); ++s)
    for (const std::size_t count : {shared_->given[s], stages_[s].phases.front().count})
      state.push_back(counts_[count] - counts_[shared_->taken[s]]);
  state.insert(state.end(), shared_->on_their_way.begin(), shared_->on_their_way.end());
}

}  // namespace millrace::simulate
