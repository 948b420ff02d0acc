#include "serve/metrics/figures.h"

#include <algorithm>

namespace millrace::serve {
namespace {

constexpr std::chrono::seconds rate_span{3};
constexpr std::chrono::seconds utilisation_span{1};

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

void Figures::begun(const application::AtWork& work) {
  const std::lock_guard lock(mutex_);
  if (!work_) begin(work);  // else its inputs are the same
  last_.application = work.application.name;
  samples_.clear();
  work_.emplace(work);
}

void Figures::begin(const application::AtWork& work) {
  inputs_.clear();
  for (std::size_t i = 0; i < work.application.inputs().size(); ++i)
    inputs_.push_back(std::make_unique<Input>());
  last_ = {};
  last_.is_live = work.application.input.is_live();
  last_.is_running = true;
  start_ = Clock::now();
}

void Figures::begun(const std::vector<std::string>& groups) {
  const std::lock_guard lock(mutex_);
  for (const std::string& name : groups) {
    groups_.push_back(std::make_unique<Group>());
    groups_.back()->name = name;
  }
  last_.is_running = true;
  start_ = Clock::now();
}

void Figures::take(const application::Outcome& outcome) {
  Input& input = *inputs_[outcome.picture.source];
  input.latency.add(outcome.latency);
  ++input.frames;
  const auto now = Clock::now();
  const std::lock_guard lock(mutex_);
  input.last.push_back(now);
  while (now - input.last.front() > rate_span) input.last.pop_front();
}

void Figures::done(std::size_t group, const runtime::EndedFrame& frame) {
  Group& of = *groups_[group];
  const Time response(frame.end - frame.due);
  of.response.add(response);
  of.deadline_ns = frame.deadline.count();
  if (response > frame.deadline) ++of.missed;
  ++of.frames;
}

void Figures::ended() {
  const std::lock_guard lock(mutex_);
  if (work_) ask_run(last_);
  last_.is_running = last_.is_busy = false;
  work_.reset();
}

/// Under mutex_, while there is a run.
void Figures::ask_run(FiguresNow& now) {
  now.inputs.clear();
  for (const application::InputTotals& each : work_->run.inputs()) {
    InputNow& input = now.inputs.emplace_back();
    input.name = each.name;
    input.arrived = each.queue.put;
    input.dropped = each.queue.dropped;
    input.gaps = each.gaps.count;
    input.gap_s = seconds(each.gaps.total);
  }
  now.stages.clear();
  for (const runtime::StageStatistics& each : work_->session.statistics())
    now.stages.push_back(
        {each.name, each.processor, each.frames, seconds(each.busy), seconds(each.waiting)});
  now.is_busy = work_->run.is_busy();
}

/// Since the newest sample that is old enough.
void Figures::add_utilisation(std::vector<StageNow>& stages, Clock::time_point at) {
  Sample sample{at, {}};
  for (const StageNow& stage : stages) sample.busy_s.push_back(stage.busy_s);
  while (samples_.size() > 1 && at - samples_[1].at >= utilisation_span) samples_.pop_front();
  if (!samples_.empty()) {
    const Sample& before = samples_.front();
    const double span = std::max(1e-9, seconds_between(before.at, at));
    for (std::size_t s = 0; s < stages.size(); ++s)
      stages[s].utilisation = std::clamp((stages[s].busy_s - before.busy_s[s]) / span, 0.0, 1.0);
  }
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
  for (const auto& each : groups_)
    now.groups.push_back({each->name, each->frames, each->missed, each->response.counts(),
                          seconds(Time(each->deadline_ns))});
}

FiguresNow Figures::now() {
  const std::lock_guard lock(mutex_);
  const auto at = Clock::now();
  if (work_) {
    ask_run(last_);
    add_utilisation(last_.stages, at);
    last_.running_s = seconds_between(start_, at);
  }
  FiguresNow now = last_;
  if (!groups_.empty() && now.is_running) now.running_s = seconds_between(start_, at);
  now.skipped = skipped_;
  add_inputs(now, at);
  add_groups(now);
  return now;
}

Trace Figures::recent(Time span) {
  const std::lock_guard lock(mutex_);
  return work_ ? work_->session.recent(span) : Trace{};
}

}  // namespace millrace::serve
