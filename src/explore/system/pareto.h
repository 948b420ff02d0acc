#pragma once
// Step 1 of chapter 4 of J. Kim's thesis: the plans of one group that no other plan beats in mean
// latency, in the mean power of every device, and in that of its busiest processor.
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/operation/ranks.h"
#include "explore/system/group_plan.h"

namespace millrace::explore {

/// What a chromosome may hold: an option, and a cut point for each border between its stages.
struct GroupSpace {
  std::vector<MappingOption> options;  // Table 4.3, without replicas
  std::vector<std::size_t> cuts;       // positions, ascending
};

/// Cuts are left out inside of fused groups, between two layers that some processor of the board
/// cannot run (section 4.4.1), and before a layer that takes no time, which has one after it too.
/// A processor that can run no layer that takes time counts neither here nor in the options.
GroupSpace group_space(const SearchContext& context);

/// How many candidates there are.
double size_of(const GroupSpace& space);

struct FrontOptions {
  std::size_t population = 65;
  std::size_t generations = 500;  // the thesis: 20,000
  std::size_t patience = 100;     // generations without a better front; 0: never ends early
  std::uint64_t seed = 1;
  Ranks* ranks = nullptr;           // who share candidates; borrowed; null: nobody
  std::function<bool()> stop = {};  // asked after each generation; empty: never
  std::function<void(double share, std::size_t plans)> progress = {};
};

struct GroupFront {
  std::vector<GroupPlan> plans;  // no two with equal objectives; by latency
  std::size_t evaluated = 0;     // different candidates
};

/// A search for the front; each is a row of front_methods().
using FrontMethod = GroupFront (*)(const GroupSpace&, const GroupObjective&, const FrontOptions&);
struct NamedFrontMethod {
  const char* name;
  FrontMethod run;
};
std::span<const NamedFrontMethod> front_methods();
const NamedFrontMethod* front_method_named(const std::string& name);

/// NSGA-II (nsga2.h).
GroupFront nsga2_front(const GroupSpace& space, const GroupObjective& objective,
                       const FrontOptions& options);
/// Lexicase selection (lexicase.h) over the objectives.
GroupFront lexicase_front(const GroupSpace& space, const GroupObjective& objective,
                          const FrontOptions& options);
/// Every candidate.
GroupFront exhaustive_front(const GroupSpace& space, const GroupObjective& objective,
                            const FrontOptions& options);

/// The plans that no other dominates; of equal ones the first.
std::vector<GroupPlan> non_dominated(std::vector<GroupPlan> plans);

/// How much of the exact front another one has.
struct FrontQuality {
  std::size_t missed = 0;  // of its points, that none of the other's equals
  double hypervolume = 1;  // the other's, as a share of its own
};
FrontQuality quality_of(const GroupFront& front, const GroupFront& exact);

}  // namespace millrace::explore
