#include "deployment/deployment.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace millrace::deployment {
namespace {

const Assignment& assignment_of(const Deployment& deployment, system::GroupId group) {
  if (group.index >= deployment.assignments.size())
    throw InputError(deployment.system.file,
                     fmt::format("group '{}' has no assignment", deployment.system[group].name));
  return deployment.assignments[group.index];
}

void check_task(const Assignment& assignment, const Task& task, const std::string& place) {
  if (task.worst < task.average || task.average < task.best || task.best < Time{})
    throw InputError(place, "its times are not in the order best, average, worst");
  for (std::size_t before : task.after)
    if (before >= assignment.tasks.size() || &assignment.tasks[before] >= &task)
      throw InputError(place, "it comes after a task that does not stand before it");
  if (task.step != Step::phase) return;
  const auto& stages = assignment.plan.plan.stages;
  if (task.stage >= stages.size() || task.phase >= stages[task.stage].phases.size())
    throw InputError(place,
                     fmt::format("its plan has no phase {} of stage {}", task.phase, task.stage));
}

}  // namespace

void check(const Deployment& deployment, const board::Board& board) {
  for (std::size_t g = 0; g < deployment.system.groups.size(); ++g) {
    const Assignment& assignment = assignment_of(deployment, system::GroupId(g));
    for (const Task& task : assignment.tasks) {
      const std::string place =
          fmt::format("group '{}', task '{}'", deployment.system.groups[g].name, task.name);
      check_task(assignment, task, place);
      if (std::ranges::none_of(board.processors, [&](const board::Processor& processor) {
            return processor.name == task.processor;
          }))
        throw InputError(
            place, fmt::format("the board '{}' has no processor '{}'", board.name, task.processor));
    }
  }
}

const Setting* setting_for(const Deployment& deployment, system::ScenarioId scenario,
                           std::int64_t level) {
  const Setting* best = nullptr;
  for (const Setting& setting : deployment.settings)
    if (setting.scenario == scenario && setting.level >= level &&
        (!best || setting.level < best->level))
      best = &setting;
  return best;
}

const char* to_text(Contention contention) {
  switch (contention) {
    case Contention::alone:
      return "alone";
    case Contention::beside_others:
      return "beside the others";
    case Contention::modelled:
      return "modelled";
  }
  return "";
}

}  // namespace millrace::deployment
