#include "simulate/recorded.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "plan/build.h"
#include "schedule/schedule.h"

namespace millrace::simulate {
namespace {

[[noreturn]] void fail(const plan::Plan& plan, const std::string& text) {
  throw InputError(plan.network_name,
                   text + "; record this plan with `millrace bench PLAN ⟨trace⟩ FILE`");
}

std::size_t number_of(const Trace& trace, const plan::Plan& plan) {
  const auto found = std::find(trace.plans.begin(), trace.plans.end(), plan.network_name);
  if (found == trace.plans.end())
    fail(plan, trace.plans.empty() ? "the trace is not of a plan"
                                   : fmt::format("the trace is of {}, not of this network",
                                                 fmt::join(trace.plans, " and ")));
  return static_cast<std::size_t>(found - trace.plans.begin());
}

std::size_t actor_of(const TraceStage& recorded, const schedule::Schedule& schedule,
                     const plan::Plan& plan) {
  const auto& actors = schedule.actors;
  const auto found = std::find_if(actors.begin(), actors.end(), [&](const auto& actor) {
    const bool is_there =  // runs of several plans know no lanes
        actor.lane == recorded.processor || actor.processor.name == recorded.processor;
    return actor.name == recorded.name && is_there;
  });
  if (found == actors.end())
    fail(plan, fmt::format("the trace has a {} on {}, the plan has none", recorded.name,
                           recorded.processor));
  return static_cast<std::size_t>(found - actors.begin());
}

/// Stages of the trace as the schedule numbers its actors; of other plans: none.
std::vector<std::size_t> actors_of(const Trace& trace, const schedule::Schedule& schedule,
                                   const plan::Plan& plan) {
  const std::size_t number = number_of(trace, plan);
  std::vector<std::size_t> actors;
  for (const TraceStage& stage : trace.stages)
    actors.push_back(stage.plan == number ? actor_of(stage, schedule, plan)
                                          : schedule.actors.size());
  return actors;
}

/// Longest time of all firings of a stage, so that no sum overflows: twelve days.
constexpr Time longest{1'000'000'000'000'000};

void check_total(const Recording& recording, const schedule::Schedule& schedule,
                 const plan::Plan& plan) {
  for (std::size_t a = 0; a < recording.size(); ++a) {
    double total = 0;
    for (const auto& firings : recording[a])
      for (const RecordedFiring& firing : firings)
        total += static_cast<double>(firing.time.count());
    if (total >= static_cast<double>(longest.count()))
      fail(plan, fmt::format("the firings of {} take more than twelve days together",
                             schedule.actors[a].name));
  }
}

void check_complete(const Recording& recording, const schedule::Schedule& schedule,
                    const plan::Plan& plan) {
  for (std::size_t a = 0; a < recording.size(); ++a)
    for (std::size_t p = 0; p < recording[a].size(); ++p)
      if (recording[a][p].empty())
        fail(plan,
             fmt::format("the trace has no firing of {}, phase {}", schedule.actors[a].name, p));
}

/// Streams of a processor take frames as they become free: in a short run one may have had no turn.
/// It takes the times of its stage's other streams.
std::vector<RecordedFiring> firings_of(std::size_t a, std::size_t phase, const Recording& recording,
                                       const schedule::Schedule& schedule) {
  const schedule::Actor& actor = schedule.actors[a];
  if (!recording[a][phase].empty()) return recording[a][phase];
  for (std::size_t b = 0; b < schedule.actors.size(); ++b) {
    const schedule::Actor& other = schedule.actors[b];
    const bool sibling = other.stage == actor.stage && other.processor == actor.processor;
    if (sibling && !recording[b][phase].empty()) return recording[b][phase];
  }
  return {};
}

Recording with_all_streams(const Recording& recording, const schedule::Schedule& schedule) {
  Recording result = recording;
  for (std::size_t a = 0; a < result.size(); ++a)
    for (std::size_t p = 0; p < result[a].size(); ++p)
      result[a][p] = firings_of(a, p, recording, schedule);
  return result;
}

}  // namespace

Recording recording_of(const Trace& trace, const plan::Plan& plan) {
  const schedule::Schedule schedule = schedule::compile(plan);
  const std::vector<std::size_t> actors = actors_of(trace, schedule, plan);
  Recording recording(plan);
  std::vector<const TraceFiring*> last(recording.size(), nullptr);
  for (const TraceFiring& firing : trace.firings) {
    const std::size_t actor = actors[firing.stage];
    if (actor == recording.size()) continue;
    if (firing.phase >= recording[actor].size())
      fail(plan, fmt::format("the trace has a phase {} of {}, the plan has {} phases", firing.phase,
                             schedule.actors[actor].name, recording[actor].size()));
    std::vector<RecordedFiring>& firings = recording[actor][firing.phase];
    const TraceFiring* before = last[actor];
    const bool goes_on = before != nullptr && before->phase == firing.phase &&
                         before->frame == firing.frame;  // it was interrupted
    if (!goes_on) firings.push_back({Time{}, firing.count});
    firings.back().time = std::min(longest, firings.back().time + (firing.end - firing.begin));
    last[actor] = &firing;
  }
  recording = with_all_streams(recording, schedule);
  check_complete(recording, schedule, plan);
  check_total(recording, schedule, plan);
  return recording;
}

plan::ByPhase<Duration> mean_durations(const Recording& recording, const plan::Plan& plan) {
  plan::ByPhase<Duration> durations(plan);
  const schedule::Schedule schedule = schedule::compile(plan);
  for (std::size_t a = 0; a < recording.size(); ++a)
    for (std::size_t p = 0; p < recording[a].size(); ++p) {
      double sum_ns = 0, frames = 0;
      for (const RecordedFiring& firing : recording[a][p]) {
        sum_ns += static_cast<double>(firing.time.count());
        frames += static_cast<double>(firing.frames);
      }
      const auto batch = static_cast<double>(schedule.actors[a].phases[p].batch);
      const Time mean(static_cast<std::int64_t>(sum_ns / frames * batch));
      durations[a][p] = {mean, mean};
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

Recorded read_recorded(const std::string& file, const plan::Plan& plan) {
  const Trace trace = read_chrome_trace(file);
  try {
    const Recording firings = recording_of(trace, plan);
    return {firings, mean_durations(firings, plan), result_of(trace, plan)};
  } catch (const InputError& error) {
    throw InputError(file, error.what());
  }
}

}  // namespace millrace::simulate
