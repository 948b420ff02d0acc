#include "explore/takeovers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "explore/choose.h"
#include "plan/variants.h"

namespace millrace::explore {
namespace {

bool is_on(const board::Processor& processor, const std::vector<std::string>& boards) {
  return std::ranges::any_of(
      boards, [&](const std::string& board) { return processor.name.starts_with(board + "."); });
}

bool uses(const plan::Plan& plan, const std::vector<std::string>& boards) {
  return std::ranges::any_of(plan.stages, [&](const plan::Stage& stage) {
    return std::ranges::any_of(stage.processors, [&](const board::Processor& processor) {
      return is_on(processor, boards);
    });
  });
}

std::vector<std::string> names_without(const board::Board& board,
                                       const std::vector<std::string>& lost) {
  std::vector<std::string> names;
  for (const board::Processor& processor : board.processors)
    if (!is_on(processor, lost)) names.push_back(processor.name);
  return names;
}

std::string text_of(const std::string& boards, const Candidate& winner) {
  std::vector<std::string> names;
  for (const plan::Stage& stage : winner.plan.stages)
    for (const board::Processor& processor : stage.processors) names.push_back(processor.name);
  return fmt::format("without {} a plan on {} takes over: {:.1f} frames/s predicted", boards,
                     fmt::join(names, ", "), 1 / seconds(predicted_period(winner)));
}

}  // namespace

Takeovers takeovers(const PlannedNetwork& planned, const plan::PlanFile& first,
                    const std::vector<std::vector<std::string>>& losses) {
  Takeovers result;
  ChooseOptions options;
  options.build.engine = planned.engine;
  if (first.plan.calibration) options.calibration = &*first.plan.calibration;
  for (const std::vector<std::string>& lost : losses) {
    if (!uses(first.plan, losses.back())) break;
    const std::string boards = fmt::format("{}", fmt::join(lost, " and "));
    const auto left = names_without(planned.board, lost);
    if (left.empty() || left.size() == planned.board.processors.size()) continue;
    try {
      const Choice choice =
          choose(planned.network, board::only(planned.board, left), planned.profile, options);
      const Candidate& winner = choice.winner();
      result.plans.push_back(
          {lost,
           {plan::with_used_engines(winner.plan, first.plan), first.origin, winner.evidence}});
      result.texts.push_back(text_of(boards, winner));
    } catch (const InputError& error) {
      result.texts.push_back(
          fmt::format("without {} nothing takes over: {}", boards, error.what()));
    }
  }
  return result;
}

}  // namespace millrace::explore
