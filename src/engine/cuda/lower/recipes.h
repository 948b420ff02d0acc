#pragma once
// Several ways to run the same layers, of which the fastest is taken.
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/cuda/builder.h"

namespace millrace::engine::cuda {

/// A way to run a group: what is started, one after the other.
struct Recipe {
  std::string kernel;  // for people
  std::string name;    // unlike those of the other ways; the same in each process
  Bytes workspace;
  std::vector<Start> starts;
};

struct Recipes {
  /// All that the time depends on.
  std::string key;
  std::function<std::vector<Recipe>()> all;
  /// The recipe of this name alone, which is made faster than all; nothing if it is gone.
  std::function<std::optional<Recipe>(const std::string& name)> named;
};

/// Adds the step of the fastest. It is measured once for all groups with the same key, and
/// remembered where kernels are kept. `workspace` is a temporary place among those touched.
void add_fastest(Builder& builder, const Recipes& recipes, const Value& workspace,
                 const Touched& touched);

}  // namespace millrace::engine::cuda
