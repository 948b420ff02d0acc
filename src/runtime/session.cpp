#include "runtime/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "base/error.h"
#include "network/frame.h"
#include "runtime/first_error.h"
#include "runtime/pauses.h"
#include "runtime/pipeline.h"
#include "runtime/statistics.h"
#include "runtime/trace.h"

namespace millrace::runtime {
struct Session::State {
  State(const network::Network& network_of_plan, Pipeline assembled)
      : network(network_of_plan),
        pipeline(std::move(assembled)),
        submitted_at(pipeline.submitted_capacity),
        taken(static_cast<std::size_t>(pipeline.trace_frames)) {}
  ~State() { stop(); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  void start();
  bool may_submit();
  bool wait_unless_result();
  bool put(std::span<const network::Array> inputs);
  bool put(const Fill& fill);
  void finish();
  void pause();
  void resume();
  void stop();
  std::optional<Result> next();
  bool next_in_place(const Use& use);

  const network::Network& network;
  Pipeline pipeline;
  TimeStamps submitted_at;  // guarded by pipeline.submitted

  // Only the writing side touches the first two, only the reading side the others.
  std::int64_t frames_submitted = 0;
  std::vector<std::span<std::byte>> targets;  // by input
  std::int64_t frames_taken = 0;
  std::vector<std::span<const std::byte>> seen;  // by output
  Clock::time_point last_ready{};
  Latest<TakenFrame> taken;

  // Changes once from running to draining, and once to stopped or failed, which are final. No
  // memory depends on it: threads are told by their channels.
  std::atomic<Life> life{Life::running};
  Pauses pauses;
  FirstError error;
  std::once_flag joined;
  std::vector<std::thread> threads;

 private:
  void fail(const Failure& failure);
  void close_channels();
  void leave(Life from, Life to) { life.compare_exchange_strong(from, to); }
  template <class Visit>
  bool all_from_caller(Visit visit);
  template <class Visit>
  bool all_to_caller(Visit visit);
  bool fits();
  bool has_result();
  void watch();
  void give();
  template <class Place>
  bool put_with(Place place);
  template <class Take>
  bool next_with(Take take_outputs);
  bool wait_for_result();
  std::span<const std::byte> place_of(TensorId tensor);
  network::Array take(TensorId tensor);
};

void Session::State::start() {
  try {
    for (const auto& stage : pipeline.stages)
      threads.emplace_back([this, task = stage.get()] {
        run_stage(*task, [this](const Failure& failure) { fail(failure); });
      });
  } catch (const std::system_error& failure) {
    throw EngineError(fmt::format("a thread cannot be started: {}", failure.what()));
  }
}

void Session::State::fail(const Failure& failure) {
  error.set(failure);
  leave(Life::running, Life::failed);
  leave(Life::draining, Life::failed);
  close_channels();
}

void Session::State::close_channels() {
  for (const auto& channel : pipeline.channels) channel->close();
  for (const auto& stage : pipeline.stages) stage->submitted.close();
  if (pipeline.shared) pipeline.shared->close();
}

/// Visits every channel into which the caller's next frame goes, until `visit` is false.
template <class Visit>
bool Session::State::all_from_caller(Visit visit) {
  for (const Inlet& inlet : pipeline.inlets)
    for (const Link& link : inlet.links)
      if (!visit(*link.at(frames_submitted))) return false;
  for (const Link& link : pipeline.credits)
    if (!visit(*link.at(frames_submitted))) return false;
  return visit(*pipeline.submitted);
}

/// The same of those from which its next result comes, once the frame was submitted.
template <class Visit>
bool Session::State::all_to_caller(Visit visit) {
  for (const auto& outlet : pipeline.outlets)
    if (Channel* channel = outlet->link.at(frames_taken); channel && !visit(*channel)) return false;
  return true;
}

/// Lets the stages know of the next frame, which all its channels have room for.
void Session::State::give() {
  all_from_caller([](Channel& channel) {
    channel.push();
    return true;
  });
  ++frames_submitted;
  for (const auto& stage : pipeline.stages) stage->submitted.raise();
}

bool Session::State::may_submit() {
  if (life == Life::failed) error.rethrow();
  return life == Life::running;
}

bool Session::State::fits() {
  return all_from_caller([](Channel& channel) { return channel.space() == Readiness::yes; });
}

/// Whether next() need not wait, be it that no result will come any more.
bool Session::State::has_result() {
  bool all = true, ended = false;
  const auto note = [&](Readiness ready) {
    all = all && ready == Readiness::yes;
    ended = ended || ready == Readiness::never;
    return ready == Readiness::yes;
  };
  if (!note(pipeline.submitted->token())) return ended;
  if (pipeline.shared) note(pipeline.shared->result(frames_taken));
  all_to_caller([&](Channel& channel) { return note(channel.token()); });
  return all || ended;
}

/// The caller is woken when one of these may have changed.
void Session::State::watch() {
  all_from_caller([](Channel& channel) {
    channel.watch_space();
    return true;
  });
  if (frames_taken == frames_submitted) return;
  if (pipeline.shared) pipeline.shared->watch_result(frames_taken);
  all_to_caller([](Channel& channel) {
    channel.watch_token();
    return true;
  });
}

/// Waits until a frame fits; false: next() need not wait before one does. A stage may hold an input
/// a little longer than its result, or need it for no result: with all results taken, space is
/// certain to come.
bool Session::State::wait_unless_result() {
  bool room = false;
  const auto settled = [&] { return (room = fits()) || has_result(); };
  while (!settled()) {
    const std::uint32_t ticket = pipeline.event_count->ticket();
    watch();
    if (settled()) break;
    pipeline.event_count->sleep(ticket);
  }
  return room;
}

/// `place` gives the next frame its inputs.
template <class Place>
bool Session::State::put_with(Place place) {
  if (!all_from_caller([](Channel& channel) { return channel.wait_for_space(); })) {
    error.rethrow();
    return false;
  }
  place();
  const std::int64_t frame = frames_submitted;
  submitted_at.of(frame) = Clock::now();
  for (const auto& outlet : pipeline.outlets)
    if (outlet->from_caller) outlet->ready.of(frame) = submitted_at.of(frame);
  give();
  return true;
}

/// Nothing is copied: arrays never change.
bool Session::State::put(std::span<const network::Array> inputs) {
  return put_with([&] {
    for (std::size_t i = 0; i < inputs.size(); ++i)
      pipeline.inlets[i].slots->stand_in(frames_submitted, inputs[i].memory);
  });
}

bool Session::State::put(const Fill& fill) {
  return put_with([&] {
    targets.clear();
    for (const Inlet& inlet : pipeline.inlets) {
      inlet.slots->stand_in(frames_submitted, nullptr);
      targets.emplace_back(inlet.slots->of(frames_submitted),
                           static_cast<std::size_t>(inlet.slots->size().count));
    }
    fill(targets);
  });
}

void Session::State::finish() {
  leave(Life::running, Life::draining);
  for (const Inlet& inlet : pipeline.inlets)
    for (const Link& link : inlet.links) link.finish();
  for (const Link& link : pipeline.credits) link.finish();
  pipeline.submitted->finish();
  for (const auto& stage : pipeline.stages) stage->submitted.finish();
}

void Session::State::pause() {
  for (const auto& stage : pipeline.stages) stage->gate.shut();
  for (const auto& stage : pipeline.stages) stage->gate.wait_until_left();
  pauses.begin(Clock::now());
}

void Session::State::resume() {
  pauses.end(Clock::now());
  for (const auto& stage : pipeline.stages) stage->gate.open();
}

void Session::State::stop() {
  leave(Life::running, Life::stopped);
  leave(Life::draining, Life::stopped);
  close_channels();
  resume();
  std::call_once(joined, [this] {
    for (std::thread& thread : threads) thread.join();
  });
}

bool Session::State::wait_for_result() {
  if (!pipeline.submitted->wait_for_token()) return false;
  if (pipeline.shared && !pipeline.shared->wait_for_result(frames_taken)) return false;
  return all_to_caller([](Channel& channel) { return channel.wait_for_token(); });
}

/// Where the next result's output lies.
std::span<const std::byte> Session::State::place_of(TensorId tensor) {
  const network::Tensor& value = network[tensor];
  const std::byte* from = value.constant ? value.constant->memory->data()
                                         : pipeline.slots[tensor.index]->at(frames_taken);
  return {from, static_cast<std::size_t>(value.size().count)};
}

network::Array Session::State::take(TensorId tensor) {
  const network::Tensor& value = network[tensor];
  if (value.constant) return *value.constant;
  network::Buffer memory(value.size());
  std::ranges::copy(place_of(tensor), memory.data());
  return network::make_array(value.type, value.shape, std::move(memory));
}

/// `take_outputs` gets the next result's number and latency, and reads its outputs.
template <class Take>
bool Session::State::next_with(Take take_outputs) {
  if (!wait_for_result()) {
    error.rethrow();
    leave(Life::draining, Life::stopped);
    return false;
  }
  const auto submitted = submitted_at.of(frames_taken);
  auto ready = std::max(last_ready, submitted);  // copies may overtake the frames before it
  for (const auto& outlet : pipeline.outlets)
    ready = std::max(ready, outlet->ready.of(frames_taken));
  if (pauses.within(std::min(submitted, last_ready), ready) > Time{}) taken.clear();
  const Time paused = pauses.within(submitted, ready);
  if (taken.is_on() && paused == Time{}) taken.add({frames_taken, submitted, ready});
  take_outputs(frames_taken, Time(ready - submitted - paused));
  last_ready = ready;
  all_to_caller([](Channel& channel) {
    channel.pop();
    return true;
  });
  ++frames_taken;
  pipeline.submitted->pop();
  return true;
}

std::optional<Result> Session::State::next() {
  std::optional<Result> result;
  next_with([&](std::int64_t frame, Time latency) {
    result = Result{frame, {}, latency};
    for (TensorId output : network.outputs) result->outputs.push_back(take(output));
  });
  return result;
}

bool Session::State::next_in_place(const Use& use) {
  return next_with([&](std::int64_t, Time) {
    seen.clear();
    for (TensorId output : network.outputs) seen.push_back(place_of(output));
    use(seen);
  });
}

Session::Session(std::unique_ptr<State> state) : state_(std::move(state)) {}
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;
Session::~Session() = default;

bool Session::submit(std::span<const network::Array> inputs) {
  network::check_frame(state_->network, inputs);
  return state_->may_submit() && state_->put(inputs);
}

bool Session::submit_unless_result(std::span<const network::Array> inputs) {
  network::check_frame(state_->network, inputs);
  if (!state_->may_submit()) return false;
  if (!state_->wait_unless_result()) {
    state_->error.rethrow();
    return false;
  }
  return state_->put(inputs);
}

bool Session::submit_in_place(const Fill& fill) {
  return state_->may_submit() && state_->put(fill);
}

std::optional<Result> Session::next() { return state_->next(); }
bool Session::next_in_place(const Use& use) { return state_->next_in_place(use); }
void Session::finish() { state_->finish(); }
void Session::stop() { state_->stop(); }
void Session::pause() { state_->pause(); }
void Session::resume() { state_->resume(); }
Life Session::life() const { return state_->life; }

FrameCounts Session::frame_counts() const {
  const auto& pipeline = state_->pipeline;
  return {pipeline.depth, pipeline.largest_offset, pipeline.round};
}

std::vector<StageStatistics> Session::statistics() const { return statistics_of(state_->pipeline); }

std::vector<std::vector<CoreTimes>> Session::times_of_phases() const {
  return core_times_of(state_->pipeline);
}
void Session::forget_times() { runtime::forget_times(state_->pipeline); }
std::int64_t Session::preemptions() const { return preemptions_of(state_->pipeline); }
bool Session::may_have_made_nan() const { return runtime::may_have_made_nan(state_->pipeline); }

bool Session::may_have_made_nan(std::int64_t frame) const {
  return runtime::may_have_made_nan(state_->pipeline, frame);
}
bool Session::has_priorities() const { return state_->pipeline.has_priorities; }

Trace Session::trace(std::optional<std::chrono::steady_clock::time_point> begin) {
  state_->stop();
  return trace_of(state_->network.name, state_->pipeline, {state_->taken.in_order(), begin});
}

Trace Session::recent(Time span) const {
  return recent_of(state_->network.name, state_->pipeline, span);
}

Session deploy(const plan::Plan& plan, const network::Network& network,
               const std::map<std::string, engine::Engine*>& engines,
               const SessionOptions& options) {
  auto state =
      std::make_unique<Session::State>(network, assemble({plan, network, engines}, options));
  state->start();
  return Session(std::move(state));
}

}  // namespace millrace::runtime
