#pragma once
// Inside the folder: a scene's tasks at any clocks, and how much their processors draw.
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "explore/system/combination.h"
#include "realtime/task_system.h"

namespace millrace::explore {

/// By device: the power of the scene at each clock, of all its processors together.
std::vector<std::vector<double>> powers_of(const CombinationProblem& problem, const Scene& scene,
                                           const Combination& combination);

/// The same task system as deployment::task_system() gives, made once; only the times of devices
/// whose clock changes are computed anew.
class SceneSystem {
 public:
  SceneSystem(const CombinationProblem& problem, const Scene& scene, const Combination& combination,
              const Placement& placement);
  SceneSystem(const SceneSystem&) = delete;

  const realtime::TaskSystem& at(const ClockLevels& clocks);
  const realtime::TaskSystem& at_highest();

  /// Whether all deadlines hold at these clocks.
  bool is_schedulable(const ClockLevels& clocks);
  /// At the highest clocks: the largest bound as a share of its deadline; at most 1000.
  double demand();

 private:
  realtime::AnalysisOptions options() const;
  struct Source {
    const deployment::Task* task;
    std::size_t device;  // of the board; or none
  };
  void add_group(system::GroupId group, const deployment::Assignment& assignment,
                 const std::vector<std::size_t>& placed);
  void add_releases();
  /// The resource where a task was placed; a core of its own is made when it is first asked for.
  realtime::ResourceId resource_of(std::size_t placed, system::GroupId group);
  void set_times(std::size_t task, double slower);
  bool is_hopeless() const;

  const CombinationProblem& problem_;
  realtime::TaskSystem system_;
  std::map<std::pair<std::size_t, std::size_t>, realtime::ResourceId> own_cores_;
  std::vector<std::size_t> processors_;  // of the board, by ResourceId
  deployment::Task release_;             // of any frame
  std::vector<Source> sources_;  // by TaskId
  std::deque<deployment::Task> grown_;  // up to budgets
  std::vector<double> slower_;   // by device, as set
  bool has_no_analysis_ = false;  // a stage of several phases, of frames that may overlap
};

/// The device of a processor as an index into Board::devices; their number: none.
std::size_t device_index(const board::Board& board, std::size_t processor);

Time period_at(const CombinationProblem& problem, system::GroupId group);
/// Less the controller's overhead.
Time deadline_at(const CombinationProblem& problem, system::GroupId group);

}  // namespace millrace::explore
