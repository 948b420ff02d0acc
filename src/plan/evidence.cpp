#include "plan/evidence.h"

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
  for (const ReplicaEvidence& replica : replicas) times.add(replica.phases);
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

std::map<std::string, Time> busy_times(const Plan& plan, const Evidence& evidence) {
  std::map<std::string, Time> times;
  std::map<std::string, std::int64_t> actors;
  auto replica = evidence.replicas.begin();
  for (const Stage& stage : plan.stages)
    for (const board::Processor& processor : stage.processors) {
      times[processor.name] += (replica++)->predicted / stage.replicas();
      ++actors[processor.name];
    }
  for (auto& [processor, time] : times) time /= actors[processor];
  return times;
}

}  // namespace millrace::plan
