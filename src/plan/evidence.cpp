#include "plan/evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/error.h"

namespace millrace::plan {

Evidence no_evidence(const Plan& plan) {
  Evidence evidence;
  for (const auto& phases : ByPhase<std::optional<Time>>(plan))
    evidence.replicas.push_back({.phases = phases});
  return evidence;
}

bool Evidence::fits(const Plan& plan) const {
  ByPhase<std::optional<Time>> times;
  for (const ReplicaEvidence& replica : replicas) {
    if (!replica.borders.empty() && replica.borders.size() != replica.phases.size()) return false;
    times.add(replica.phases);
  }
  return times.fits(plan);
}

void check_evidence(const Evidence& evidence, const Plan& plan) {
  if (!evidence.fits(plan))
    throw InputError("evidence", "is of another plan; pass what was made or read with this plan");
}

Evidence predicted(const PhaseTimes& times) {
  Evidence evidence;
  for (const auto& phases : times)
    evidence.replicas.push_back(
        {.phases = {phases.begin(), phases.end()},
         .predicted = std::accumulate(phases.begin(), phases.end(), Time{})});
  return evidence;
}

PhaseTimes predicted_times(const Plan& plan, const Evidence& evidence) {
  PhaseTimes times;
  auto replica = evidence.replicas.begin();
  for (const Stage& stage : plan.stages)
    for (std::int64_t r = 0; r < stage.replicas(); ++r, ++replica) {
      const auto& known = replica->phases;
      if (std::count(known.begin(), known.end(), std::nullopt) > 0) return {};
      std::vector<Time> phases;
      for (std::size_t p = 0; p < known.size(); ++p)
        phases.push_back(*known[p] * stage.phases[p].batch);
      times.add(std::move(phases));
    }
  return times;
}

ByPhase<BorderTimes> border_times(const Plan& plan, const Evidence& evidence) {
  ByPhase<BorderTimes> times;
  auto replica = evidence.replicas.begin();
  for (const Stage& stage : plan.stages)
    for (std::int64_t r = 0; r < stage.replicas(); ++r, ++replica) {
      std::vector<BorderTimes> phases = replica->borders;
      phases.resize(stage.phases.size());
      for (std::size_t p = 0; p < phases.size(); ++p) {
        phases[p].in *= stage.phases[p].batch;
        phases[p].out *= stage.phases[p].batch;
      }
      times.add(std::move(phases));
    }
  return times;
}

namespace {

/// By device, then by the core that feeds it.
std::map<std::pair<std::string, std::string>, Time> feedings(const Plan& plan,
                                                             const Evidence& evidence) {
  std::map<std::pair<std::string, std::string>, Time> times;
  auto replica = evidence.replicas.begin();
  for (const Stage& stage : plan.stages)
    for (const board::Processor& processor : stage.processors) {
      const Feeding& feeding = (replica++)->feeding;
      if (!feeding.core.empty())
        times[{processor.name, feeding.core}] += feeding.time / stage.replicas();
    }
  return times;
}

bool has_stage(const Plan& plan, const std::string& processor) {
  return std::ranges::any_of(plan.stages, [&](const Stage& stage) {
    return std::ranges::count(stage.processors, processor, &board::Processor::name) > 0;
  });
}

}  // namespace

std::map<std::string, Time> feeding_of_idle_cores(const Plan& plan, const Evidence& evidence) {
  std::map<std::string, Time> times;
  for (const auto& [names, time] : feedings(plan, evidence))
    if (!has_stage(plan, names.second)) times[names.second] += time;
  return times;
}

std::vector<std::string> feeding_notes(const Plan& plan, const Evidence& evidence) {
  std::vector<std::string> notes;
  for (const auto& [names, time] : feedings(plan, evidence))
    notes.push_back(fmt::format(
        "{0} feeds {1} for {2} of each frame; {0}{3}", names.second, names.first,
        millrace::to_text(time),
        has_stage(plan, names.second) ? "'s time includes this" : " has no stage of its own"));
  return notes;
}

std::vector<std::string> border_notes(const Plan& plan, const Evidence& evidence) {
  constexpr int least_share = 100;  // of the processor's time, one part in so many
  std::map<std::string, BorderTimes> times;
  auto replica = evidence.replicas.begin();
  for (const Stage& stage : plan.stages)
    for (const board::Processor& processor : stage.processors)
      for (const BorderTimes& phase : (replica++)->borders) {
        times[processor.name].in += phase.in / stage.replicas();
        times[processor.name].out += phase.out / stage.replicas();
      }
  const std::map<std::string, Time> busy = busy_times(plan, evidence);
  std::vector<std::string> notes;
  for (const auto& [processor, time] : times)
    if (time.in + time.out >= busy.at(processor) / least_share && time != BorderTimes{})
      notes.push_back(
          fmt::format("{0} receives tensors for {1} of each frame, and sends them for {2}; {0}'s "
                      "time includes both",
                      processor, millrace::to_text(time.in), millrace::to_text(time.out)));
  return notes;
}

std::map<std::string, Time> busy_times(const Plan& plan, const Evidence& evidence) {
  std::map<std::string, Time> times = feeding_of_idle_cores(plan, evidence);
  std::map<std::string, std::int64_t> actors;
  auto replica = evidence.replicas.begin();
  for (const Stage& stage : plan.stages)
    for (const board::Processor& processor : stage.processors) {
      times[processor.name] += (replica++)->predicted / stage.replicas();
      ++actors[processor.name];
    }
  for (const auto& [processor, count] : actors) times[processor] /= count;
  return times;
}

}  // namespace millrace::plan
