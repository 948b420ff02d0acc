#include "engine/cuda/lower/proposals.h"

#include <fmt/format.h>

namespace millrace::engine::cuda {
namespace {

/// Not all kernels of cuBLASLt have names of their own, and a problem has two forms: with what
/// follows the product, and alone.
std::string name_of_proposal(const ProductProblem& problem, const std::string& kernel,
                             std::size_t number) {
  const bool joins = problem.bias || problem.activation != ProductActivation::none;
  return fmt::format("{}{} #{}", joins ? "joined " : "", kernel, number);
}

}  // namespace

void add_proposals(Builder& builder, const ProductProblem& problem, const ProductOperands& operands,
                   const Proposals& to) {
  const auto ways = builder.gpu().ways(problem);
  for (std::size_t i = 0; i < ways.size(); ++i) {
    const auto& way = ways[i];
    Recipe recipe{way->kernel(),
                  name_of_proposal(problem, way->kernel(), i),
                  Bytes{static_cast<std::int64_t>(way->workspace())},
                  {}};
    recipe.starts.push_back([way, operands](const Execution& execution) {
      way->run(execution.stream, {.a = execution.address(operands.a),
                                  .b = execution.address(operands.b),
                                  .bias = operands.bias ? execution.address(*operands.bias) : 0,
                                  .y = execution.address(operands.y),
                                  .workspace = execution.address(operands.workspace)});
    });
    if (to.last) recipe.starts.push_back(*to.last);
    to.recipes.push_back(std::move(recipe));
  }
}

}  // namespace millrace::engine::cuda
