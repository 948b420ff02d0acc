#pragma once
// All that is asked of a task system, at once.
#include <optional>
#include <string>
#include <vector>

#include "realtime/analysis.h"
#include "realtime/simulate.h"
#include "realtime/utilisation.h"

namespace millrace::realtime {

struct RealtimeQuestions {
  AnalysisOptions analysis;
  SimulationOptions simulation;  // no run: it is not simulated
  bool growth = true;
};

struct RealtimeAnswers {
  std::vector<Utilisation> utilisations;  // by ResourceId
  Bounds bounds;
  std::optional<SimulatedResponses> simulated = {};     // not if a resource is overloaded
  std::optional<std::int64_t> growth_millionths = {};   // see largest_growth
  std::vector<std::optional<Time>> largest_times = {};  // by TaskId; see largest_time
  std::string reason = {};                              // why a deadline is missed; empty: none is

  bool is_schedulable() const { return reason.empty(); }
};

RealtimeAnswers answer(const TaskSystem& system, const RealtimeQuestions& questions = {});

}  // namespace millrace::realtime
