#include "product/deployment/addition.h"

#include <algorithm>
#include <chrono>

#include "analysis/schedulability.h"
#include "base/error.h"
#include "deployment/joined.h"

namespace millrace::product {
namespace {

/// Empty if every deadline holds.
std::string refusal_of(const deployment::Deployment& deployment, const board::Board& board) {
  const auto answers = analysis::check_deadlines(deployment, board, {});
  const auto missed = std::ranges::find_if(
      answers, [](const analysis::DeadlineAnswers& answer) { return !answer.is_schedulable(); });
  return missed == answers.end() ? std::string() : missed->reason;
}

}  // namespace

void RunningDeployment::add(runtime::Controller& controller, const deployment::ScriptStep& step) {
  const auto begin = std::chrono::steady_clock::now();
  Addition addition{step.at, step.add};
  try {
    add(controller, addition);
  } catch (const InputError& error) {
    addition.refusal = error.what();
  }
  addition.took = std::chrono::steady_clock::now() - begin;
  if (!addition.refusal.empty())
    use_.context.note(step.add + " was not added: " + addition.refusal);
  additions_.push_back(std::move(addition));
}

void RunningDeployment::add(runtime::Controller& controller, Addition& addition) {
  if (!first_.is_here) {
    addition.refusal = "the board '" + first_.board.name +
                       "' is simulated here, and only what runs on this machine can be added to";
    return;
  }
  auto loaded = load_deployment(addition.file, use_.tasks, use_.context);
  for (const system::Group& group : loaded->deployment.system.groups)
    addition.groups.push_back(group.name);
  deployment::Deployment all = deployment::joined(deployment(), loaded->deployment);
  addition.refusal = refusal_of(all, first_.board);
  if (!addition.refusal.empty()) return;
  loaded_.push_back(std::move(loaded));
  joined_.push_back(std::move(all));
  LoadedDeployment& added = *loaded_.back();
  const auto tell = [&] {
    if (use_.observer != nullptr)
      use_.observer->begun(use_.deliveries->at_work(deployment(), controller));
  };
  try {
    use_.deliveries->add(added, joined_.back());
    use_.deliveries->begin();
    tell();  // before its first result
    controller.add(joined_.back(), application::observed_groups(
                                       use_.observer, added.groups_to_run(),
                                       joined_.back().system.groups.size() - added.steps.size()));
  } catch (...) {
    use_.deliveries->keep_first(joined_.back().system.groups.size() - added.steps.size());
    joined_.pop_back();
    tell();
    throw;
  }
}

}  // namespace millrace::product
