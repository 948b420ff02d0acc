#pragma once
// The searches that chapter 5 of J. Kim's thesis compares: networks and tasks together, or one
// after the other.
#include <optional>
#include <span>
#include <string>

#include "explore/graphs/mapping_value.h"

namespace millrace::explore {

struct MappingResult {
  Mapping mapping;
  MappingValue value;
  std::size_t evaluated = 0, generations = 0, analyses = 0;
};

/// The genetic search chooses plans of networks; for each choice Algorithm 7 places the tasks.
MappingResult heuristic_mapping(const MappingProblem& problem, const CombineOptions& options);

/// The genetic search chooses all at once. It begins with what heuristic_mapping() finds, unless
/// `seeded` is false.
MappingResult entire_mapping(const MappingProblem& problem, const CombineOptions& options,
                             bool seeded = true);

/// The better of that with and without `seeded`.
MappingResult best_entire_mapping(const MappingProblem& problem, const CombineOptions& options);

/// Networks first, as if there were no tasks; then tasks beside the networks that were chosen.
MappingResult sequential_mapping(const MappingProblem& problem, const CombineOptions& options);

using MappingSearch = MappingResult (*)(const MappingProblem&, const CombineOptions&);
struct MappingMethod {
  const char* name;  // of --method
  const char* purpose;
  MappingSearch run;
};
std::span<const MappingMethod> mapping_methods();
/// Null if there is none.
const MappingMethod* mapping_method_named(const std::string& name);

/// No mapping has a smaller largest utilisation: the linear relaxation, in which a task or network
/// may be shared out over processors and plans.
double least_utilisation(const MappingProblem& problem);

/// The smallest largest utilisation at which all deadlines hold, by trying all mappings. Nothing if
/// none fits or more than `most_nodes` parts of mappings have to be looked at.
std::optional<MappingResult> exhaustive_mapping(const MappingProblem& problem,
                                                std::size_t most_nodes);

}  // namespace millrace::explore
