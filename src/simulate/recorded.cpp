#include "simulate/recorded.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "plan/build.h"

namespace millrace::simulate {
namespace {

[[noreturn]] void fail(const plan::Plan& plan, const std::string& text) {
  throw InputError(plan.network_name,
                   text + "; record this plan with `millrace bench PLAN --trace FILE`");
}

std::size_t number_of(const Trace& trace, const plan::Plan& plan) {
  const auto found = std::find(trace.plans.begin(), trace.plans.end(), plan.network_name);
  if (found == trace.plans.end())
    fail(plan, trace.plans.empty() ? "the trace is not of a plan"
                                   : fmt::format("the trace is of {}, not of this network",
                                                 fmt::join(trace.plans, " and ")));
  return static_cast<std::size_t>(found - trace.plans.begin());
}

std::size_t stage_of(const TraceStage& recorded, const plan::Plan& plan) {
  const auto found =
      std::find_if(plan.stages.begin(), plan.stages.end(), [&](const plan::Stage& stage) {
        return stage.name == recorded.name && stage.processor.name == recorded.processor;
      });
  if (found == plan.stages.end())
    fail(plan, fmt::format("the trace has a {} on {}, the plan has none", recorded.name,
                           recorded.processor));
  return static_cast<std::size_t>(found - plan.stages.begin());
}

/// Stages of the trace as the plan numbers them; of other plans: none.
std::vector<std::size_t> stages_of(const Trace& trace, const plan::Plan& plan) {
  const std::size_t number = number_of(trace, plan);
  std::vector<std::size_t> stages;
  for (const TraceStage& stage : trace.stages)
    stages.push_back(stage.plan == number ? stage_of(stage, plan) : plan.stages.size());
  return stages;
}

Recording empty_recording(const plan::Plan& plan) {
  Recording recording;
  for (const plan::Stage& stage : plan.stages) recording.emplace_back(stage.phases.size());
  return recording;
}

/// Of all firings of a stage, so that no sum overflows: twelve days.
constexpr Time longest{1'000'000'000'000'000};

void check_total(const Recording& recording, const plan::Plan& plan) {
  for (std::size_t s = 0; s < recording.size(); ++s) {
    double total = 0;
    for (const auto& firings : recording[s])
      for (const RecordedFiring& firing : firings)
        total += static_cast<double>(firing.time.count());
    if (total >= static_cast<double>(longest.count()))
      fail(plan, fmt::format("the firings of {} take more than twelve days together",
                             plan.stages[s].name));
  }
}

void check_complete(const Recording& recording, const plan::Plan& plan) {
  for (std::size_t s = 0; s < recording.size(); ++s)
    for (std::size_t p = 0; p < recording[s].size(); ++p)
      if (recording[s][p].empty())
        fail(plan, fmt::format("the trace has no firing of {}, phase {}", plan.stages[s].name, p));
}

}  // namespace

Recording recording_of(const Trace& trace, const plan::Plan& plan) {
  const std::vector<std::size_t> stages = stages_of(trace, plan);
  Recording recording = empty_recording(plan);
  std::vector<const TraceFiring*> last(plan.stages.size(), nullptr);
  for (const TraceFiring& firing : trace.firings) {
    const std::size_t stage = stages[firing.stage];
    if (stage == plan.stages.size()) continue;
    if (firing.phase >= recording[stage].size())
      fail(plan, fmt::format("the trace has a phase {} of {}, the plan has {} phases", firing.phase,
                             plan.stages[stage].name, recording[stage].size()));
    std::vector<RecordedFiring>& firings = recording[stage][firing.phase];
    const TraceFiring* before = last[stage];
    const bool goes_on = before != nullptr && before->phase == firing.phase &&
                         before->frame == firing.frame;  // it was interrupted
    if (!goes_on) firings.push_back({Time{}, firing.count});
    firings.back().time = std::min(longest, firings.back().time + (firing.end - firing.begin));
    last[stage] = &firing;
  }
  check_complete(recording, plan);
  check_total(recording, plan);
  return recording;
}

std::vector<std::vector<Duration>> mean_durations(const Recording& recording,
                                                  const plan::Plan& plan) {
  std::vector<std::vector<Duration>> durations;
  for (std::size_t s = 0; s < recording.size(); ++s) {
    auto& phases = durations.emplace_back();
    for (std::size_t p = 0; p < recording[s].size(); ++p) {
      double sum_ns = 0, frames = 0;
      for (const RecordedFiring& firing : recording[s][p]) {
        sum_ns += static_cast<double>(firing.time.count());
        frames += static_cast<double>(firing.frames);
      }
      const auto batch = static_cast<double>(plan.stages[s].phases[p].batch);
      const Time mean(static_cast<std::int64_t>(sum_ns / frames * batch));
      phases.push_back({mean, mean});
    }
  }
  return durations;
}

ApplicationResult result_of(const Trace& trace, const plan::Plan& plan) {
  const std::size_t number = number_of(trace, plan);
  ApplicationResult result{.name = plan.network_name};
  std::vector<Time> completed;
  for (const TraceFrame& frame : trace.frames) {
    if (frame.plan != number) continue;
    if (frame.completed < frame.released) fail(plan, "the trace has a frame of a time below 0");
    completed.push_back(frame.completed);
    result.latencies.add(frame.completed - frame.released);
  }
  std::sort(completed.begin(), completed.end());
  const auto round = static_cast<std::size_t>(plan::round_of(plan));
  if (completed.size() < 2 * round)
    fail(plan,
         fmt::format("the trace has {} frames, expected at least {}", completed.size(), 2 * round));
  const std::size_t counted = (completed.size() / round - 1) * round;
  result.frames = static_cast<std::int64_t>(counted);
  result.elapsed = completed[round - 1 + counted] - completed[round - 1];
  return result;
}

}  // namespace millrace::simulate
