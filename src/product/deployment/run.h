#pragma once
// A deployment at work on this machine.
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "application/live/delivery.h"
#include "application/live/observer.h"
#include "deployment/deployment.h"
#include "product/context.h"
#include "product/deployment/addition.h"
#include "product/deployment/deliveries.h"
#include "product/deployment/loaded_deployment.h"
#include "product/deployment/task_code.h"
#include "product/loaded.h"
#include "realtime/cause_effect.h"
#include "runtime/controller/controller.h"

namespace millrace::product {

struct DeploymentRunRequest {
  std::string deployment;                  // a file
  std::string script = {};                 // a file; empty: as below
  std::string scenario = {};               // stays in this one; empty: random transitions
  std::optional<std::int64_t> level = {};  // with a scenario; none: the highest
  std::int64_t transitions = 20;           // random ones
  std::string releases = {};               // a file with those that were recorded; empty: none
  std::string state_file = {};  // keeps where it is; it begins there if there is one; empty: none
  runtime::ControllerThread thread = {};
  double duration_s = 60;
  std::uint64_t seed = 1;
  /// A folder for results; empty: they are written where the applications say.
  std::string output = {};
  /// A file in which others write the scenario, "NAME" or "NAME LEVEL", while it runs; empty: none.
  /// Without another script it begins in the first one, and there are no random transitions.
  std::string scenario_file = {};
  /// How often the next scenario was asked for since the last call; none: nobody asks.
  std::function<std::int64_t()> take_nexts = {};
  TraceOptions trace = {};
  TaskSources tasks = {};
  Context context = {};
  application::Observer* observer = nullptr;  // borrowed; null: nobody
};

/// What was seen of a chain in a scenario at a level, and what may be seen there.
struct ChainSeen {
  std::size_t chain = 0;  // of the system
  deployment::Wanted at;
  application::ChainTimes times;
  realtime::ChainBounds bounds;
  bool holds() const;
};

struct DeploymentRun {
  std::string file, script;  // script: the file; empty: none
  std::uint64_t seed = 1;
  deployment::Deployment deployment;  // with what was added
  runtime::ControllerRecord record;
  /// By group, scenario and level, of all in which frames were due: see response_bounds(). Empty if
  /// the board is not this machine.
  std::map<std::pair<std::size_t, std::pair<std::size_t, std::int64_t>>, std::optional<Time>>
      bounds;
  std::optional<double> real_time_limit = {};  // the share of a core; none: there is no limit
  /// Energy of this machine, and by the board's table of power; none: not known.
  std::optional<double> measured_mj = {}, expected_mj = {};
  std::string energy_source = {};  // of what was measured, or why nothing was
  bool interrupted = false;
  std::vector<Addition> additions = {};
  std::vector<ChainSeen> chains = {};
  /// Totals of groups with an application, and of those that a program feeds.
  std::vector<application::DeliveryTotals> deliveries = {};

  std::optional<Time> bound(std::size_t group, const runtime::OperationRecord& of) const {
    const auto found = bounds.find({group, {of.at.scenario.index, of.at.level}});
    return found == bounds.end() ? std::nullopt : found->second;
  }
  /// Frames after their deadlines, of all groups.
  std::int64_t missed() const;
  /// Whether each response is within its bound, and each chain.
  bool holds() const;
};

/// A deployment that a program feeds, from its begin to stop(). One thread uses it; switch_to() may
/// be called by any.
class LiveRun {
 public:
  /// Deploys all groups and runs a few frames through each. As run_deployment() throws. Nothing is
  /// written unless the request names a folder.
  using Ends = decltype(DeliveriesRequest::ends);
  LiveRun(DeploymentRunRequest request, Ends ends);
  ~LiveRun();

  /// Frames are due from now on, in the request's scenario and level.
  void start();
  /// InputError if there is no such scenario or level. None: the highest.
  void switch_to(const std::string& scenario, std::optional<std::int64_t> level = {});
  bool has_failed() const;
  /// By group; null: it has none.
  const std::vector<application::Delivery*>& deliveries() const;
  /// Waits for the frames on their way, and for their results; once. Rethrows the first error of a
  /// group, or of who takes its results.
  DeploymentRun stop();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// An interrupt ends it as its end does: frames on their way are done. InputError before anything
/// runs; EngineError if a stage fails.
DeploymentRun run_deployment(const DeploymentRunRequest& request);

}  // namespace millrace::product
