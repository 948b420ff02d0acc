#pragma once
// How one group of a system may run: its network cut into stages, with tasks and their times.
#include <functional>
#include <string>
#include <vector>

#include "deployment/deployment.h"
#include "explore/configuration/configuration.h"

namespace millrace::explore {

/// One candidate. Its processors stand for any equal ones: which, placement.h decides.
struct GroupPlan {
  Configuration configuration;
  /// Without the plan itself, which plan_file_of() makes for those that are chosen.
  deployment::Assignment assignment;
  Time latency{};                // mean: a frame goes through the tasks one after the other
  std::vector<double> power_mw;  // mean while frames come at the group's rate, by Board::devices
  /// The same of the network on the busiest processor of each device; 0: it may use at most one.
  std::vector<double> busiest_mw = {};
  /// Mean time of a frame on each accelerator, if the model asks for it. Where the network may use
  /// several equal cores: on all of them, and on the busiest.
  std::vector<double> accelerator_ms = {};
  bool operator==(const GroupPlan&) const = default;
};

/// The standard deviation of a kernel's time where times are modelled, as a share of its mean.
/// Worst times are six of them above the mean: of each kernel where kernels are measured, else of
/// the whole subnet.
inline constexpr double modelled_deviation = 1.0 / 30;

/// A group as the search sees it. Borrowed.
struct GroupModel {
  const SearchContext& context;      // its board has the processors that the network may use only
  const board::Board& board;         // all of it
  Time period{};                     // of frames
  Time preprocess{}, postprocess{};  // worst times on a core at its highest clock; 0: no such step
  const Problem* worst = nullptr;    // the same with the layers' worst times; null: modelled
  double deviation = modelled_deviation;
  bool by_accelerator_times = false;  // objectives are those of equation 5.1, not the power
};

/// The build options of plans under deadlines: no frame waits for the next one.
plan::BuildOptions build_options_under_deadlines();

/// Nothing if the board cannot run the configuration.
std::optional<GroupPlan> group_plan(const GroupModel& model, const Configuration& configuration);

/// Told how good a configuration is; nothing: it cannot run. This file's simulates; one that
/// measures may stand in its place.
using GroupObjective = std::function<std::optional<GroupPlan>(const Configuration&)>;

/// Mean latency, then the power of each device and of the busiest of equal processors (chapter 4),
/// or the time on each accelerator (equation 5.1): all to be small. Equal processors count by how
/// much they have to do, since which of them it is, is decided later.
std::vector<double> objectives_of(const GroupPlan& plan);

}  // namespace millrace::explore
