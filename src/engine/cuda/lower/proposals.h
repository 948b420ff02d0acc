#pragma once
// Products of matrices as cuBLASLt computes them.
#include <optional>
#include <vector>

#include "engine/cuda/lower/recipes.h"

namespace millrace::engine::cuda {

struct ProductOperands {
  Value a, b, y, workspace;
  std::optional<Value> bias;  // if the problem has one
};

/// Where proposals go, and what each ends with: all that the library does not do itself.
struct Proposals {
  std::optional<Start> last;
  std::vector<Recipe>& recipes;
};
/// A recipe for each kernel that the library proposes for the problem.
void add_proposals(Builder& builder, const ProductProblem& problem, const ProductOperands& operands,
                   const Proposals& to);

}  // namespace millrace::engine::cuda
