#include "serve/metrics/figures.h"

#include <algorithm>
#include <utility>

#include "serve/metrics/asked.h"

namespace millrace::serve {
namespace {

constexpr std::chrono::seconds rate_span{3};
constexpr std::chrono::seconds utilisation_span{1};
constexpr std::size_t most_added_groups = 64;  // others are not counted

double seconds_between(std::chrono::steady_clock::time_point from,
                       std::chrono::steady_clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

}  // namespace

std::int64_t FiguresNow::frames() const {
  std::int64_t sum = 0;
  for (const InputNow& input : inputs) sum += input.frames;
  for (const GroupNow& group : groups) sum += group.frames;
  return sum;
}

double Figures::Input::rate_fps(Clock::time_point now) const {
  if (last.size() < 2) return 0;
  // A frame that has not come for longer than usual lowers the rate already.
  const auto count = static_cast<double>(last.size() - 1);
  const double span = seconds_between(last.front(), last.back());
  const double since = seconds_between(last.back(), now);
  return count / std::max(span, since > 2 * span / count ? span + since : span);
}

/// Under mutex_.
void Figures::begin(const std::string& name, Streams streams) {
  if (!std::exchange(last_.is_running, true)) start_ = Clock::now();
  last_.name = name;
  streams_ = std::move(streams);
  while (inputs_.size() < streams_.all().size()) inputs_.push_back(std::make_unique<Input>());
  samples_.clear();
}

void Figures::begun(const application::AtWork& work) {
  const std::lock_guard lock(mutex_);
  begin(work.application.name, Streams(work));
  last_.is_live = work.application.input.is_live();
  ask_run_ = [work](FiguresNow& now) { serve::ask(work, now); };
  ask_trace_ = [work](Time span) { return work.session.recent(span); };
}

void Figures::begun(const application::DeploymentAtWork& work) {
  const std::lock_guard lock(mutex_);
  begin(work.name, Streams(work));
  last_.is_live = true;
  if (groups_.empty()) groups_ = std::vector<Group>(work.groups.size() + most_added_groups);
  group_names_ = work.groups;
  if (group_names_.size() > groups_.size()) group_names_.resize(groups_.size());
  ask_run_ = [work](FiguresNow& now) { serve::ask(work, now); };
  ask_trace_ = [work](Time span) { return work.controller.recent(span); };
}

void Figures::take(const application::Outcome& outcome) {
  const std::lock_guard lock(mutex_);
  const auto number = streams_.number_of(outcome);
  if (!number) return;
  Input& input = *inputs_[*number];
  input.latency.add(outcome.latency);
  ++input.frames;
  const auto now = Clock::now();
  input.last.push_back(now);
  while (now - input.last.front() > rate_span) input.last.pop_front();
}

void Figures::done(std::size_t group, const runtime::EndedFrame& frame) {
  if (group >= groups_.size()) return;
  Group& of = groups_[group];
  const Time response(frame.end - frame.due);
  of.response.add(response);
  of.deadline_ns = frame.deadline.count();
  if (of.operation.exchange(frame.operation) != frame.operation) of.largest_ns = 0;
  if (response.count() > of.largest_ns) of.largest_ns = response.count();
  if (response > frame.deadline) ++of.missed;
  ++of.frames;
}

void Figures::ended() {
  const std::lock_guard lock(mutex_);
  if (ask_run_) ask_run_(last_);
  last_.is_running = last_.is_busy = false;
  ask_run_ = {};
  ask_trace_ = {};
}

/// Since the newest sample that is old enough; the first time since the begin.
void Figures::add_rates(FiguresNow& now, Clock::time_point at) {
  Sample sample{at, {}, {}};
  for (const StageNow& stage : now.stages) sample.busy_s.push_back(stage.busy_s);
  for (const GroupNow& group : now.groups) sample.frames.push_back(group.frames);
  while (samples_.size() > 1 && at - samples_[1].at >= utilisation_span) samples_.pop_front();
  const bool is_alike = !samples_.empty() &&  // groups may have been added
                        samples_.front().busy_s.size() == sample.busy_s.size() &&
                        samples_.front().frames.size() == sample.frames.size();
  if (!is_alike)
    samples_ = {{start_, std::vector<double>(sample.busy_s.size()),
                 std::vector<std::int64_t>(sample.frames.size())}};
  const Sample& before = samples_.front();
  const double span = std::max(1e-9, seconds_between(before.at, at));
  for (std::size_t s = 0; s < now.stages.size(); ++s)
    now.stages[s].utilisation =
        std::clamp((now.stages[s].busy_s - before.busy_s[s]) / span, 0.0, 1.0);
  for (std::size_t g = 0; g < now.groups.size(); ++g)
    now.groups[g].rate_fps = static_cast<double>(sample.frames[g] - before.frames[g]) / span;
  samples_.push_back(std::move(sample));
}

void Figures::add_inputs(FiguresNow& now, Clock::time_point at) {
  now.inputs.resize(inputs_.size());  // several that are not live are asked as one
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    now.inputs[i].frames = inputs_[i]->frames;
    now.inputs[i].latency = inputs_[i]->latency.counts();
    now.inputs[i].rate_fps = inputs_[i]->rate_fps(at);
  }
}

void Figures::add_groups(FiguresNow& now) const {
  now.groups.clear();
  for (std::size_t g = 0; g < group_names_.size(); ++g) {
    const Group& of = groups_[g];
    const auto& [name, delivery, bounds] = group_names_[g];
    GroupNow& group = now.groups.emplace_back();
    group = {name, of.frames, of.missed, of.response.counts(), seconds(Time(of.deadline_ns))};
    group.largest_s = seconds(Time(of.largest_ns));
    const std::size_t operation = of.operation;
    if (operation < bounds.size() && bounds[operation]) group.bound_s = seconds(*bounds[operation]);
  }
}

FiguresNow Figures::now() {
  const std::lock_guard lock(mutex_);
  const auto at = Clock::now();
  if (ask_run_) {
    ask_run_(last_);
    add_groups(last_);
    add_rates(last_, at);
    last_.running_s = seconds_between(start_, at);
  }
  add_inputs(last_, at);
  if (!last_.is_running) add_groups(last_);
  FiguresNow now = last_;
  now.skipped += skipped_;
  return now;
}

Trace Figures::recent(Time span) {
  const std::lock_guard lock(mutex_);
  return ask_trace_ ? ask_trace_(span) : Trace{};
}

}  // namespace millrace::serve
