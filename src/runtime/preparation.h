#pragma once
// From a plan's phases to prepared subnets, with the memory layouts between them agreed.
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "board/board.h"
#include "engine/engine.h"
#include "network/network.h"
#include "plan/plan.h"
#include "schedule/schedule.h"

namespace millrace::runtime {

/// What deploy() was given, borrowed.
struct PlanToRun {
  const plan::Plan& plan;
  const network::Network& network;
  const std::map<std::string, engine::Engine*>& engines;
};

struct PreparedPhase {
  std::unique_ptr<engine::Subnet> subnet;
  /// For a phase with a batch: the same for one frame, where few have come.
  std::unique_ptr<engine::Subnet> of_one = nullptr;
};
using PreparedActor = std::vector<PreparedPhase>;  // by phase

/// InputError if the engine of a stage is missing.
engine::Engine& engine_of(const plan::Stage& stage,
                          const std::map<std::string, engine::Engine*>& engines);

/// InputError if the plan was made for another network, breaks the rules of plan::check, would wait
/// for ever, or uses a core twice.
void check_plan_to_run(const PlanToRun& given);

/// All actors at once, each on a thread of its own, with `pin` on its processor if its engine uses
/// that one's cores. A consumer waits until the layouts of what it reads are known, so that on the
/// same engine it reads what the producer's engine prefers to write; between engines, at the
/// network's ends and around phases with a batch tensors are plain. The first error ends all.
/// InputError if an engine or a processor is missing.
std::vector<PreparedActor> prepare(const PlanToRun& given, const schedule::Schedule& schedule,
                                   bool pin);

}  // namespace millrace::runtime
