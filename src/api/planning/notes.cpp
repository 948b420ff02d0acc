#include "api/planning/notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"

namespace millrace::api {
namespace {

bool has_stage_on(const plan::Plan& plan, const board::Processor& processor) {
  return std::any_of(plan.stages.begin(), plan.stages.end(), [&](const plan::Stage& stage) {
    return std::any_of(stage.processors.begin(), stage.processors.end(),
                       [&](const auto& each) { return each.name == processor.name; });
  });
}

std::string why_idle(const network::Network& network, const explore::Problem& problem,
                     ProcessorId processor) {
  std::vector<std::size_t> refused;
  for (std::size_t layer = 0; layer < problem.layers; ++layer)
    if (std::isinf(problem.time[layer][processor.index])) refused.push_back(layer);
  if (refused.empty()) return "every plan that uses it is slower";
  const std::string first = fmt::format("{} ({}): {}", network.layers[refused.front()].name,
                                        network::name_of(network.layers[refused.front()].op),
                                        problem.refusal(refused.front(), processor));
  if (refused.size() == problem.layers)
    return fmt::format("it can run none of the {} layers, such as {}", problem.layers, first);
  return fmt::format("it cannot run {} of the {} layers, such as {}", refused.size(),
                     problem.layers, first);
}

}  // namespace

void check_search_reads_options(const PlanRequest& request) {
  const std::string& method = request.search.method;
  if (method == "auto" || method.find("genetic") != std::string::npos) return;
  const explore::GeneticOptions usual, given = request.genetic;
  const std::array<std::pair<const char*, bool>, 6> options{{
      {"--population", given.population != usual.population},
      {"--epochs", given.epochs != usual.epochs},
      {"--mutation", given.mutation != usual.mutation},
      {"--contiguous", given.contiguous != usual.contiguous},
      {"--patience", given.patience != usual.patience},
      {"--fitness", given.fitness != usual.fitness},
  }};
  for (const auto& [name, is_given] : options)
    if (is_given)
      throw InputError(name, fmt::format("is for the genetic search, but --search is {}; leave it "
                                         "out, or use --search genetic",
                                         method));
}

std::vector<std::string> idle_accelerators(const network::Network& network,
                                           const board::Board& board,
                                           const explore::Problem& problem,
                                           const plan::Plan& plan) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < board.processors.size(); ++i) {
    const board::Processor& processor = board.processors[i];
    if (processor.kind == board::ProcessorKind::cpu || has_stage_on(plan, processor)) continue;
    texts.push_back(fmt::format("{} takes no part: {}", processor.name,
                                why_idle(network, problem, ProcessorId(i))));
  }
  return texts;
}

}  // namespace millrace::api
