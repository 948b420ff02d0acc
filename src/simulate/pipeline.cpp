#include "simulate/pipeline.h"

#include <algorithm>

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
  if (order == Order::submitted && plan::is_shared(plan)) shared_ = Shared{};
  for (const plan::Stage& stage : plan.stages) add_stage(stage);
  for (const plan::Channel& channel : plan.channels) {
    const plan::Turn turn = plan::turn_of(plan, channel);
    if (shared_) most_on_their_way_ = std::min(most_on_their_way_, channel.capacity);
    if (!shared_ || turn.of == 1) add_channel(channel, turn);
  }
  if (!shared_) add_tickets(plan);
  if (in_flight > 0) most_on_their_way_ = std::min(most_on_their_way_, in_flight);
  sort_orders();
}

void Pipeline::add_stage(const plan::Stage& planned) {
  Stage& stage = stages_.emplace_back();
  for (const plan::Phase& phase : planned.phases) {
    stage.order.push_back(stage.phases.size());
    stage.phases.push_back(
        {phase.lag, phase.batch, planned.turn.of, counts_.size(), {}, {}, {stages_.size() - 1}});
    counts_.push_back(planned.turn.index);
  }
  if (!shared_) return;
  stage.group.emplace(planned);
  add_once(woken_by_submit_, stages_.size() - 1);
}

std::size_t Pipeline::count_of(const plan::Endpoint& end) const {
  return stages_[end.stage].phases[end.phase].count;
}

void Pipeline::add_channel(const plan::Channel& planned, const plan::Turn& turn) {
  Channel channel{caller_in, caller_out, planned.capacity / turn.of, turn};
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
      Channel ticket{caller_in, phase.count, most_on_their_way_, plan.stages[s].turn};
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
  return phase.batch - (frame_of(phase) + phase.lag) / phase.step % phase.batch;
}

std::int64_t Pipeline::cycle_of(const Phase& phase) const {
  return frame_of(phase) + phase.lag + (rest_of_batch(phase) - 1) * phase.step;
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
  const bool more_come =
      order_ == Order::graph || submitted() > frame_of(phase) + frames * phase.step;
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

std::optional<Firing> Pipeline::next(std::size_t index) {
  Stage& stage = stages_[index];
  stage.woken = false;
  if (shared_) return next_shared(*stage.group);
  for (const std::size_t p : stage.order) {
    const Phase& phase = stage.phases[p];
    if (const std::int64_t frames = ready_frames(phase); frames > 0)
      return Firing{p, frame_of(phase), frames};
    if (order_ == Order::graph || submitted() > frame_of(phase)) return std::nullopt;
  }
  return std::nullopt;
}

std::optional<Firing> Pipeline::next_shared(plan::Group& group) {
  auto step = group.next();
  if (!step) {
    const std::int64_t frames = std::min(group.most(), submitted() - shared_->claimed);
    if (frames == 0) return std::nullopt;
    group.take(shared_->claimed, frames);
    shared_->claimed += frames;
    step = group.next();
  }
  return Firing{step->phase, step->frame, step->count};
}

void Pipeline::end_shared(plan::Group& group, const Firing& firing) {
  group.end({firing.phase, firing.frame, firing.count});
  if (firing.phase + 1 < group.phases()) return;
  const auto begin = static_cast<std::size_t>(firing.frame - taken());
  const std::size_t end = begin + static_cast<std::size_t>(firing.count);
  shared_->done.resize(std::max(shared_->done.size(), end));
  std::fill_n(shared_->done.begin() + static_cast<std::ptrdiff_t>(begin), firing.count, true);
}

void Pipeline::end(std::size_t index, const Firing& firing) {
  Stage& stage = stages_[index];
  if (shared_) {
    stage.woken = true;
    return end_shared(*stage.group, firing);
  }
  const Phase& phase = stage.phases[firing.phase];
  frame_of(phase) += firing.count * phase.step;
  for (const std::size_t other : phase.wakes) stages_[other].woken = true;
  auto here = std::find(stage.order.begin(), stage.order.end(), firing.phase);
  for (; here + 1 != stage.order.end() && is_before(stage, here[1], here[0]); ++here)
    std::swap(here[0], here[1]);
}

bool Pipeline::may_submit() const {
  if (submitted() - taken() >= most_on_their_way_) return false;
  return std::all_of(from_caller_.begin(), from_caller_.end(), [&](const Channel& channel) {
    return !channel.turn.is_of(submitted()) || tokens(channel) < channel.capacity;
  });
}

void Pipeline::submit() {
  ++counts_[caller_in];
  for (const std::size_t stage : woken_by_submit_) stages_[stage].woken = true;
}

bool Pipeline::may_take() const {
  if (submitted() == taken()) return false;
  if (shared_ && (shared_->done.empty() || !shared_->done.front())) return false;
  return std::all_of(to_caller_.begin(), to_caller_.end(), [&](const Channel& channel) {
    return !channel.turn.is_of(taken()) || tokens(channel) > 0;
  });
}

void Pipeline::take() {
  if (shared_) shared_->done.pop_front();
  ++counts_[caller_out];
  for (const std::size_t stage : woken_by_take_) stages_[stage].woken = true;
}

void Pipeline::add_state(std::vector<std::int64_t>& state) const {
  if (!shared_) {
    state.push_back(taken() % round_);
    for (const std::int64_t count : counts_) state.push_back(count - taken());
    return;
  }
  for (const std::int64_t count : {submitted(), shared_->claimed}) state.push_back(count - taken());
  for (const Stage& stage : stages_) stage.group->add_state(state, taken());
  state.insert(state.end(), shared_->done.begin(), shared_->done.end());
}

}  // namespace millrace::simulate
