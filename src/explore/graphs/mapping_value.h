#pragma once
// What a mapping is worth: equation 5.5 of J. Kim's thesis.
#include <cstdint>
#include <string>
#include <vector>

#include "explore/graphs/mapping.h"

namespace millrace::explore {

struct MappingValue {
  bool feasible = false;   // there is room, and every deadline holds
  double utilisation = 0;  // the largest of a processor, in any scenario
  /// The largest bound of a response as a share of its deadline; at most 1000, which also stands
  /// for no bound.
  double demand = 0;
  Time response{};  // the largest bound; realtime::unbounded: none
  system::GroupId tightest{0};  // whose demand that is
};

/// Value of a deployment, at the highest level and clocks: as `millrace analyze` has it.
MappingValue value_of(const deployment::Deployment& deployment, const board::Board& board,
                      const realtime::AnalysisOptions& options);

/// What takes no analysis.
struct MappingLoad {
  double largest = 0;  // utilisation of a processor, in any scenario
  double squares = 0;  // the sum of the squared utilisations, in the scenario with the largest
};

/// Evaluates many mappings of one problem; borrows it.
class MappingEvaluator {
 public:
  explicit MappingEvaluator(const MappingProblem& problem);

  MappingLoad load(const Mapping& mapping) const;
  /// By how many subnets the networks exceed what their devices have room for; 0: they fit.
  std::size_t subnets_over(const Mapping& mapping) const;
  MappingValue value(const Mapping& mapping);

  std::size_t analyses() const { return analyses_; }
  /// The deployment of the mapping that was valued last; without plans and settings.
  const deployment::Deployment& deployment() const { return deployment_; }

 private:
  void add_scene(system::ScenarioId scenario, MappingValue& value);
  double path_demand(system::GroupId group) const;

  const MappingProblem& problem_;
  deployment::Deployment deployment_;
  std::vector<Scene> scenes_;
  CombinationProblem rooms_;
  std::size_t analyses_ = 0;
};

}  // namespace millrace::explore
