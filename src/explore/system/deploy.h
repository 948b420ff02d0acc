#pragma once
// The decision for a system: plans, processors, priorities, and clocks by scenario and rate.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/operation/context.h"
#include "explore/graphs/mapping_search.h"
#include "explore/system/group_source.h"
#include "explore/system/methods.h"
#include "explore/system/pareto.h"

namespace millrace::explore {

struct DeployOptions {
  std::vector<std::string> processors = {};  // for networks; empty: the accelerators, or all
  /// One of deploy_methods(); where groups have task graphs, one of mapping_methods(). Empty: the
  /// first of them.
  std::string method = {};
  bool compare = false;         // all other methods too
  bool max_rate = false;        // the tightest deadlines, of the method or of all
  std::string front = "nsga2";  // of front_methods()
  FrontOptions fronts = {};
  CombineOptions combine = {};
  ClockSearch clocks = ClockSearch::search;
  bool exact = false;  // an exact search behind the genetic one, which decides
  realtime::AnalysisOptions analysis = {};
  std::optional<double> deviation = {};  // of modelled times: at first modelled_deviation
  std::uint64_t seed = 1;
};

/// Step 1 of a group. Groups that are alike share one.
struct GroupSearch {
  std::string name;
  std::size_t layers = 0, cut_points = 0;
  double candidates = 0;  // there are
  GroupFront front = {};
  std::vector<GroupPlan> plans = {};  // the front's, then those with steps on other cores
  std::vector<plan::Plan> stages = {};         // of these plans
  std::optional<FrontQuality> quality = {};  // with `exact`, if there are not too many
  std::size_t exact_plans = 0;                   // of the exact front then
  double seconds = 0;
};

struct MethodReport {
  std::string name;
  MethodResult decided;              // at the highest level
  std::vector<MethodResult> levels;  // the same decision at each level
  std::optional<MaxRate> max_rate;
  double seconds = 0;   // of the search, without max_rate
  double usual_mw = 0;  // what the usual search found; infinite: nothing
  /// Power of the exact search: what it decided, and the least that these plans draw.
  std::optional<double> exact_mw, bound_mw;
};

/// A method for networks and tasks together.
struct MappingReport {
  std::string name;
  MappingResult found;
  double seconds = 0;
};

/// What was found for a system whose groups have task graphs.
struct MappingReports {
  std::vector<MappingReport> methods;          // the one asked for first
  double least_utilisation = 0;                // no mapping is below it
  std::optional<double> least_by_trying = {};  // with `exact`, if there are not too many mappings
};

struct DeployResult {
  system::System system;
  board::Board board;
  std::vector<GroupSearch> groups;    // by GroupId
  std::vector<MethodReport> methods;  // the one asked for first
  std::optional<MappingReports> mappings = {};
  std::optional<deployment::Deployment> deployment;
  bool is_power_assumed = false;  // of some device: see board::with_assumed_power
  bool measured = false;          // the deployment's times are those of its tasks here
  std::string refusal;  // why there is none: one sentence; empty: there is one, or none was asked
};

/// What is to be decided, with what is known of it.
struct SystemToDeploy {
  system::System system;
  board::Board board;  // with power, perhaps assumed
  std::string board_hash;
  bool is_power_assumed = false;
  /// By GroupId; shared by equal groups; null: the group has no network.
  std::vector<std::shared_ptr<GroupSource>> sources = {};
  std::string version = {};  // of the program, for the origin of plans
};

/// An earlier group with equal candidates.
std::optional<std::size_t> earlier_alike(const system::System& system, std::size_t group);

/// InputError if the options contradict the system.
DeployResult deploy(SystemToDeploy given, const DeployOptions& options, const Context& context);

}  // namespace millrace::explore
