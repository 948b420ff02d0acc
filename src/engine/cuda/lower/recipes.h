#pragma once
// Several ways to run the same layers, of which the fastest is taken.
#include <string>
#include <vector>

#include "engine/cuda/builder.h"

namespace millrace::engine::cuda {

/// A way to run a group: what is started, one after the other.
struct Recipe {
  std::string kernel;
  Bytes workspace;
  std::vector<Start> starts;
};

/// Adds the step of the fastest, measured once for all groups with the same `key`: it says all that
/// the time depends on. `workspace` is a temporary place that is in `touched`.
void add_fastest(Builder& builder, const std::string& key, const std::vector<Recipe>& recipes,
                 const Touched& touched);

}  // namespace millrace::engine::cuda
