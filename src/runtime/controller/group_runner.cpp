#include "runtime/controller/group_runner.h"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>

#include "network/evaluate/nan_layer.h"
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

/// So many frames pass each slot.
std::int64_t frames_of_warm_up(const plan::Plan& plan) {
  std::int64_t most = 1;
  for (const plan::Channel& channel : plan.channels) most = std::max(most, channel.capacity);
  return 2 * most;
}

Time since_begin_of_clock(Clock::time_point moment) {
  return std::chrono::duration_cast<Time>(moment.time_since_epoch());
}

}  // namespace

GroupRunner::GroupRunner(GroupPlace place, GroupToRun group, ControllerSignals& signals)
    : place_(std::move(place)),
      group_(std::move(group)),
      signals_(signals),
      frames_(static_cast<std::size_t>(place_.most)),
      undone_(static_cast<std::size_t>(place_.most)),
      done_(signals.releaser),
      ended_operations_(place_.operations),
      ended_frames_(place_.graph.empty() ? 0 : static_cast<std::size_t>(place_.trace_frames)) {
  kept_responses_.reserve(place_.keep_responses);
  if (group_.network != nullptr)
    session_.emplace(deploy(place_.plan, *group_.network, group_.engines, session_options(place_)));
  add_actors();
  for (auto& undone : undone_) undone = actors_.size();
  if (session_) warm_up();
}

GroupRunner::~GroupRunner() {
  close();
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
    session_->submit_in_place(fill_all);
    session_->next_in_place([&](auto outputs) { use(outputs); });
  }
  session_->forget_times();
}

/// If one has no thread, those that wait for it have to end too.
void GroupRunner::start() {
  threads_.reserve(actors_.size());
  try {
    for (const auto& actor : actors_) start(actor);
  } catch (...) {
    close();
    throw;
  }
}

void GroupRunner::start(const std::shared_ptr<GroupActor>& actor) {
  ++threads_at_work_;  // before the thread takes it away
  try {
    threads_.emplace_back([this, actor] { work(*actor); });
  } catch (...) {
    --threads_at_work_;
    throw;
  }
}

/// An error ends the group, and lets the release thread end the others.
void GroupRunner::work(GroupActor& actor) {
  std::optional<Failure> failure;
  try {
    enter(actor.plan());
    const auto done = [this](std::int64_t frame) { note_done(frame); };
    if (!actor.run(done)) return;
    if (actor.plan().feeds_network) session_->finish();
  } catch (const InputError& error) {
    failure = {error.what(), true};
  } catch (const std::exception& error) {
    failure = {error.what()};
  }
  if (failure) fail(*failure);
  preemptions_ += preemptions_of_this_thread();
  --threads_at_work_;
  ended_.notify();
}

void GroupRunner::fail(const Failure& failure) {
  signals_.error.set(
      {fmt::format("group '{}': {}", place_.name, failure.text), failure.of_the_input});
  signals_.failed = true;
  close();
  signals_.releaser.notify();
}

/// Ends all waits; frames on their way are dropped.
void GroupRunner::close() {
  for (const auto& actor : actors_) actor->close();
  if (session_) session_->stop();
}

std::int64_t GroupRunner::on_the_way() const {
  constexpr std::uint32_t mask = (1u << 29) - 1;  // as counters wrap
  return (static_cast<std::uint32_t>(last_released_) - done_.read().count()) & mask;
}

void GroupRunner::release(const ReleasedFrame& frame) {
  ReleasedFrame& kept = frames_[static_cast<std::size_t>(last_released_) % frames_.size()];
  kept = frame;
  kept.released = Clock::now();
  ++last_released_;
  if (!place_.allowances.empty()) allowed_ += allowance_ = place_.allowances.at(frame.operation);
  for (const auto& actor : actors_) actor->release();
}

/// Of all frames' tasks so far.
Time GroupRunner::used() const {
  Time sum{};
  for (const auto& actor : actors_)
    if (!actor->plan().name.empty()) sum += Time(actor->times().sum_ns);
  if (!session_) return sum;
  for (const auto& stage : session_->times_of_phases())
    for (const CoreTimes& phase : stage) sum += phase.sum;
  return sum;
}

/// A frame on its way counts as if it took all that it may; what earlier ones left is gone.
Time GroupRunner::take_overrun() {
  if (place_.allowances.empty()) return {};
  const Time now = used();
  const Time overrun = std::max(Time{}, now - allowed_);
  allowed_ = std::clamp(allowed_, now, now + on_the_way() * allowance_);
  return overrun;
}

void GroupRunner::finish() {
  for (const auto& actor : actors_) actor->finish();
}

void GroupRunner::join() {
  for (const auto& actor : actors_) actor->stop();
  if (!threads_.empty()) wait_for_threads();
  for (std::thread& thread : threads_)
    if (thread.joinable()) thread.join();
  threads_.clear();
  if (session_) session_->stop();
}

/// Until all have ended; those that are in a function for too long are left alone. Before, others
/// may have had their cores.
void GroupRunner::wait_for_threads() {
  const auto begin = Clock::now();
  while (threads_at_work_ > 0) {
    const std::uint32_t ticket = ended_.ticket();
    if (threads_at_work_ == 0) return;
    if (Clock::now() - begin >= place_.patience) leave_stuck_actors();
    ended_.sleep_before(ticket, Clock::now() + place_.patience / 4);
  }
}

void GroupRunner::leave_stuck_actors() {
  for (std::size_t a = 0; a < actors_.size(); ++a) {
    const Time at_work = actors_[a]->at_work();
    if (at_work < place_.patience || !actors_[a]->leave()) continue;
    leave_cores_to_others(threads_[a]);  // which have to end
    threads_[a].detach();
    fail(
        {fmt::format("task '{}' has been at work for {} and does not return; its thread is left "
                     "alone",
                     actors_[a]->name(), millrace::to_text(at_work))});
    --threads_at_work_;
  }
}

void GroupRunner::enter(const ActorPlan& plan) const {
  constexpr std::size_t longest = 15;
  ::pthread_setname_np(::pthread_self(), plan.thread.substr(0, longest).c_str());
  if (place_.pin && plan.processor && !plan.processor->cores.empty())
    board::pin_this_thread(*plan.processor);
  if (has_priorities()) set_priority_of_this_thread(place_.priority);
}

bool GroupRunner::has_priorities() const {
  return session_ ? session_->has_priorities() : place_.priority > 0;
}

void GroupRunner::note_done(std::int64_t frame) {
  std::atomic<std::size_t>& undone = undone_[static_cast<std::size_t>(frame) % undone_.size()];
  if (undone.fetch_sub(1, std::memory_order_acq_rel) > 1) return;
  undone.store(actors_.size(), std::memory_order_relaxed);
  end_frame(frame);
}

void GroupRunner::end_frame(std::int64_t frame) {
  const ReleasedFrame& released = frames_[static_cast<std::size_t>(frame) % frames_.size()];
  const auto now = Clock::now();
  const Time response = now - released.due;
  responses_.add(response);
  if (kept_responses_.size() < place_.keep_responses) kept_responses_.push_back(response);
  if (ended_frames_.is_on()) {
    const Time due = since_begin_of_clock(released.due);
    ended_frames_.add({0, frame, due, due, since_begin_of_clock(now)});
  }
  Ended& ended = ended_operations_[released.operation];
  ++ended.done;
  ended.largest = std::max(ended.largest, response);
  if (response > released.deadline) {
    ++ended.missed;
    missed_.fetch_add(1, std::memory_order_relaxed);
  }
  if (group_.ended)
    group_.ended(
        {frame, released.due, now, released.deadline, released.operation, released.released});
  done_.raise();
}

void GroupRunner::add_to(GroupRecord& record, std::vector<OperationRecord>& operations) const {
  record.name = place_.name;
  record.responses = responses_;
  record.kept_responses = kept_responses_;
  record.nan_layer = nan_layer();
  record.preemptions = preemptions_ + (session_ ? session_->preemptions() : 0);
  for (std::size_t o = 0; o < ended_operations_.size(); ++o) {
    operations[o].frames.done += ended_operations_[o].done;
    operations[o].frames.missed += ended_operations_[o].missed;
    operations[o].largest = ended_operations_[o].largest;
  }
  record.tasks = tasks();
}

std::vector<TaskRecord> GroupRunner::tasks() const {
  std::vector<TaskRecord> tasks;
  const auto add = [&](const GroupActor& actor) {
    const ActorPlan& plan = actor.plan();
    const PhaseTimes& times = actor.times();
    if (!plan.name.empty())
      tasks.push_back({plan.name,
                       plan.processor ? plan.processor->name : "",
                       {times.runs, Time(times.sum_ns), Time(times.largest_ns)}});
  };
  for (const auto& actor : actors_)
    if (!actor->plan().after_network) add(*actor);
  add_phases(tasks);
  for (const auto& actor : actors_)
    if (actor->plan().after_network) add(*actor);
  return tasks;
}

/// Keeps one frame: what a real-time thread spends is little, and once.
void GroupRunner::keep_suspect(std::span<const std::span<std::byte>> inputs) {
  if (!suspect_.empty() || !session_->may_have_made_nan()) return;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const network::Tensor& tensor = (*group_.network)[group_.network->inputs[i]];
    auto memory = network::Buffer::uninitialized(tensor.size());
    std::ranges::copy(inputs[i], memory.data());
    suspect_.push_back(network::make_array(tensor.type, tensor.shape, std::move(memory)));
  }
}

/// Kernels may only seem to make NaN, so the plain loops say. Frames to look at are one that came
/// after, and the next ones of the step before the network, whose pictures come again and again.
std::string GroupRunner::nan_layer() const {
  constexpr int most_looked_at = 8;
  if (!session_ || !session_->may_have_made_nan()) return {};
  std::vector<std::vector<network::Array>> frames;
  if (!suspect_.empty()) frames.push_back(suspect_);
  for (int i = 0; group_.preprocess && i < most_looked_at; ++i) {
    std::vector<network::Buffer> memory;
    std::vector<std::span<std::byte>> inputs;
    for (const TensorId id : group_.network->inputs)
      memory.emplace_back((*group_.network)[id].size());
    for (network::Buffer& each : memory) inputs.push_back(each.bytes());
    group_.preprocess(inputs);
    std::vector<network::Array>& frame = frames.emplace_back();
    for (std::size_t k = 0; k < memory.size(); ++k) {
      const network::Tensor& tensor = (*group_.network)[group_.network->inputs[k]];
      frame.push_back(network::make_array(tensor.type, tensor.shape, std::move(memory[k])));
    }
  }
  return network::nan_layer_of(*group_.network, frames);
}

void GroupRunner::add_phases(std::vector<TaskRecord>& tasks) const {
  if (!session_) return;
  const auto phases = session_->times_of_phases();
  std::size_t actor = 0;
  for (const plan::Stage& stage : place_.plan.stages)
    for (std::size_t r = 0; r < stage.processors.size(); ++r, ++actor)
      for (std::size_t p = 0; p < phases[actor].size(); ++p) {
        const std::string name = plan::name_of(stage, r);
        tasks.push_back({p == 0 ? name : fmt::format("{}.{}", name, p), stage.processors[r].name,
                         phases[actor][p]});
      }
}

/// Of the tasks of a graph.
void GroupRunner::add_firings(Trace& trace, Clock::time_point begin) const {
  if (place_.graph.empty()) return;
  for (const auto& actor : actors_) {
    const ActorPlan& plan = actor->plan();
    if (plan.name.empty()) continue;
    const std::size_t stage = trace.stages.size();
    trace.stages.push_back({0, plan.name, plan.processor ? plan.processor->name : ""});
    for (const GroupActor::TracedFiring& firing : actor->firings())
      if (firing.end > begin)
        trace.firings.push_back(
            {stage, 0, firing.frame, 1, std::max(firing.begin, begin) - begin, firing.end - begin});
  }
}

Trace GroupRunner::recent(Time span) const {
  Trace trace = session_ ? session_->recent(span) : Trace{};
  add_firings(trace, Clock::now() - span);
  return trace;
}

Trace GroupRunner::trace(Clock::time_point begin) {
  Trace trace = session_ ? session_->trace(begin) : Trace{};
  if (place_.graph.empty()) return trace;
  const Time from = since_begin_of_clock(begin);
  add_firings(trace, begin);
  trace.frames = ended_frames_.in_order();  // the network's are a part of them
  for (TraceFrame& frame : trace.frames) {
    frame.released -= from;
    frame.submitted -= from;
    frame.completed -= from;
  }
  return trace;
}

}  // namespace millrace::runtime
