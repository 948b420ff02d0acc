#pragma once
// A deployment and all that it needs to run: networks, engines, and the steps of applications.
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "application/live/group_edges.h"
#include "application/live/live_group.h"
#include "deployment/deployment.h"
#include "engine/engine.h"
#include "engine/simulated/paced.h"
#include "product/context.h"
#include "product/deployment/group_steps.h"
#include "product/deployment/open.h"
#include "product/deployment/task_code.h"
#include "runtime/controller/clock_control.h"
#include "runtime/controller/group_to_run.h"
#include "runtime/simulated_board.h"

namespace millrace::product {

/// Sessions borrow from it, so it stays where it is.
struct LoadedDeployment {
  deployment::Deployment deployment;
  board::Board board;
  bool is_here = true;  // the board is this machine; else steps take their worst times
  Networks opened;
  std::vector<const network::Network*> networks;  // by GroupId; of `opened`; null: it has none
  std::vector<GroupSteps> steps;                  // by GroupId
  std::vector<GroupCode> codes;                   // by GroupId
  /// By GroupId; null, or none: pictures are used in turn, and nobody takes results.
  std::vector<std::shared_ptr<application::LiveGroup>> live = {};  // shared with who feeds them
  std::unique_ptr<application::GroupEdges> edges = {};  // between groups; null: there are none
  /// By GroupId, then by name: groups share none, so that none waits for another's lock.
  std::vector<std::map<std::string, std::unique_ptr<engine::Engine>>> engines;

  /// Simulation of processors that are not here: one for all groups, as a processor is.
  struct Simulated {
    std::unique_ptr<engine::Engine> computing;
    std::map<const network::Network*, runtime::RunTimes> times;
    std::unique_ptr<engine::simulated::PacedEngine> engine;  // null: nothing is simulated
  };
  Simulated simulated;

  std::vector<runtime::GroupToRun> groups_to_run() const;
  /// Sets the clocks of a board that is not here; none if it is. Borrows.
  runtime::SimulatedClock simulated_clock() const;
};

/// Edges between the system's groups, with these networks, by GroupId.
application::EdgesSpecification edges_of(const system::System& system,
                                         std::vector<const network::Network*> networks);

/// Reads the file and everything that it names, to run it: weights are there where input is real.
std::unique_ptr<LoadedDeployment> load_deployment(const std::string& file,
                                                  const TaskSources& sources,
                                                  const Context& context);
/// What a deployment is made ready with.
struct DeploymentSources {
  Networks opened;  // whose plans name their models
  TaskSources tasks = {};
};
std::unique_ptr<LoadedDeployment> make_ready(deployment::Deployment deployment,
                                             DeploymentSources sources, const Context& context);

}  // namespace millrace::product
