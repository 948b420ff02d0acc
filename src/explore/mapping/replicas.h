#pragma once
// Groups of processors that take turns, each on whole frames of the same layers.
#include <map>
#include <vector>

#include "explore/mapping/problem.h"

namespace millrace::explore {

/// The problem with groups of `size` neighbouring processors in the place of processors: a group
/// takes a `size`-th of the time of its slowest, in its first one's variants, and where one of them
/// cannot run a layer, none does. Precondition: size divides the number of processors.
Problem in_groups(const Problem& problem, std::size_t size);

/// The first processors of these groups, for layers mapped to the groups.
plan::Mapping to_first_of_groups(plan::Mapping mapping, std::size_t size);

/// The processors that share frames round robin with the first of each group.
std::map<ProcessorId, std::vector<ProcessorId>> turns_in_groups(std::size_t processors,
                                                                std::size_t size);

}  // namespace millrace::explore
