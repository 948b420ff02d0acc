#pragma once
// The decision for a system: plans, processors, priorities, and clocks by scenario and rate.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/context.h"
#include "explore/graphs/mapping_search.h"
#include "explore/system/methods.h"
#include "explore/system/pareto.h"

namespace millrace::api {

struct DeployRequest {
  std::string system;      // a file
  std::string board = {};  // instead of the system's: a shipped one or a board file
  std::vector<std::string> processors = {};  // for networks; empty: the accelerators, or all
  /// Of explore::deploy_methods(); where groups have task graphs, of explore::mapping_methods().
  /// Empty: the first of them.
  std::string method = {};
  bool compare = false;         // all other methods too
  bool max_rate = false;        // the tightest deadlines, of the method or of all
  std::string front = "nsga2";  // of explore::front_methods()
  explore::FrontOptions fronts = {};
  explore::CombineOptions combine = {};
  explore::ClockSearch clocks = explore::ClockSearch::search;
  bool exact = false;  // an exact search behind the genetic one, which decides
  realtime::AnalysisOptions analysis = {};
  std::optional<double> deviation = {};  // of modelled times: at first explore::modelled_deviation
  std::uint64_t seed = 1;
  /// On this machine: so many runs of each task of what was decided, beside the others, in place of
  /// the sums of its layers' worst cases. 0: none; at first 200.
  std::optional<std::int64_t> samples = {};
  std::vector<std::string> plugins = {};  // libraries with functions of tasks
  /// A file of `profile SYSTEM` with what the system leaves to be measured; empty: measured now.
  std::string profile = {};
  Context context = {};
};

/// Step 1 of a group. Groups that are alike share one.
struct GroupSearch {
  std::string name;
  std::size_t layers = 0, cut_points = 0;
  double candidates = 0;  // there are
  explore::GroupFront front = {};
  std::vector<explore::GroupPlan> plans = {};  // the front's, then those with steps on other cores
  std::vector<std::string> texts = {};         // of these plans: "dla0[0-29] gpu[30-53]"
  std::optional<explore::FrontQuality> quality = {};  // with `exact`, if there are not too many
  std::size_t exact_plans = 0;                   // of the exact front then
  double seconds = 0;
};

struct MethodReport {
  std::string name;
  explore::MethodResult decided;              // at the highest level
  std::vector<explore::MethodResult> levels;  // the same decision at each level
  std::optional<explore::MaxRate> max_rate;
  double seconds = 0;   // of the search, without max_rate
  double usual_mw = 0;  // what the usual search found; infinite: nothing
  /// Of the exact search: what it decided, and the least that these plans draw.
  std::optional<double> exact_mw, bound_mw;
};

/// A method for networks and tasks together.
struct MappingReport {
  std::string name;
  explore::MappingResult found;
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

/// InputError if the request contradicts itself or a file is wrong.
DeployResult deploy_system(const DeployRequest& request);

/// The layers of each stage, with its processor: "dla0[0-29,31] gpu[30,32-53]".
std::string stages_text(const plan::Plan& plan);

/// The text of the group's plan with the processors that its tasks were given, by task: indices
/// into the board.
std::string placed_stages_text(const GroupSearch& group, std::size_t plan,
                               const board::Board& board,
                               const std::vector<std::size_t>& processors);

}  // namespace millrace::api
