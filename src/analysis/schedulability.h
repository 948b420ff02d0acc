#pragma once
// Whether every deadline of a deployment holds, and by how much.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/edge_buffers.h"
#include "analysis/responses.h"
#include "deployment/deployment.h"
#include "deployment/power.h"
#include "realtime/answers.h"

namespace millrace::analysis {

struct DeadlineQuestions {
  std::optional<system::ScenarioId> scenario = {};  // none: all
  std::optional<std::int64_t> level = {};           // none: all
  realtime::SimulationOptions simulation = {};      // no run: it is not simulated
};

/// Answers for one scenario at one level.
struct DeadlineAnswers {
  deployment::Operation operation;
  bool has_setting = false;    // the deployment's; else the clocks are the highest
  realtime::TaskSystem tasks;  // of deployment::task_system()
  realtime::RealtimeAnswers answers;
  std::vector<deployment::DevicePower> power;
  std::vector<ChainAnswer> chains = {};
  /// Why a deadline may be missed, or a chain be too slow, by the scenario's name; empty: none.
  std::string reason;

  bool is_schedulable() const { return reason.empty(); }
};

/// By scenario, then by level. InputError as deployment::task_system().
std::vector<DeadlineAnswers> check_deadlines(const deployment::Deployment& deployment,
                                             const board::Board& board,
                                             const DeadlineQuestions& questions);

/// The rates at which everything is just schedulable, with all clocks at their highest.
struct LargestRates {
  static constexpr std::int64_t most = 1'000'000'000;  // none higher are looked at
  std::int64_t millionths = 0;  // of the highest level's rates; `most`: as many or more
  system::ScenarioId scenario;  // that allows no more
  std::string processor;        // whose tasks would have to be faster
  std::string reason;           // what is missed at the next higher rates
};

/// Deadlines that are periods shrink with them, others stay; where frames of a group wait for each
/// other, its period may not be shorter than its deadline. Nothing if no rate is low enough.
std::optional<LargestRates> largest_rates(const deployment::Deployment& deployment,
                                          const board::Board& board,
                                          std::optional<system::ScenarioId> scenario = {});

/// All that `analyze` finds out.
struct DeploymentAnswers {
  std::string file;
  deployment::Deployment deployment;
  board::Board board;
  std::vector<DeadlineAnswers> operations;
  std::vector<EdgeBuffer> buffers = {};  // of task graphs
  bool has_rates = false;  // they were asked for
  std::optional<LargestRates> rates = {};

  bool is_schedulable() const;
};

}  // namespace millrace::analysis
