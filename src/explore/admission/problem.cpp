#include "explore/admission/problem.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace millrace::explore {
namespace {

void check_processors(const AdmissionProblem& problem) {
  for (const SharedProcessor& processor : problem.processors) {
    const std::string place = fmt::format("processor '{}'", processor.name);
    if (processor.units.empty()) throw InputError(place, "it has no units, expected one at least");
    for (std::size_t unit : processor.units)
      if (unit >= problem.units.size())
        throw InputError(place, "it names a unit that is not there");
  }
  for (const auto& [a, b] : problem.exclusive)
    if (a >= problem.processors.size() || b >= problem.processors.size() || a == b)
      throw InputError("exclusive processors", "found a pair that names no two processors");
}

void check_times(const AdmissionTask& task, const std::string& place) {
  for (const std::optional<Time>& time : task.times)
    if (time && *time <= Time{})
      throw InputError(place, "found a time that is not above 0; leave the variant out instead");
  if (std::ranges::none_of(task.times, [](const auto& time) { return time.has_value(); }))
    throw InputError(
        place,
        "it has no variant on any processor of the board; try other precisions or kinds "
        "of silicon");
}

}  // namespace

void check(const AdmissionProblem& problem) {
  check_processors(problem);
  for (const AdmissionTask& task : problem.tasks) {
    const std::string place = fmt::format("task '{}'", task.name);
    if (task.period <= Time{})
      throw InputError(place, "its period is not above 0; give the time between two activations");
    if (task.deadline <= Time{}) throw InputError(place, "its deadline is not above 0");
    if (task.times.size() != problem.processors.size())
      throw InputError(place, fmt::format("found times for {} processors, expected {}",
                                          task.times.size(), problem.processors.size()));
    if (!task.energy.empty() && task.energy.size() != task.times.size())
      throw InputError(place, "its energies are not of the same processors as its times");
    check_times(task, place);
  }
}

Billionths utilisation(const AdmissionTask& task, std::size_t processor) {
  const auto time = static_cast<unsigned __int128>(task.times[processor]->count());
  const auto period = static_cast<unsigned __int128>(task.period.count());
  const auto share = (time * whole_unit + period - 1) / period;
  // More than one unit is too much, however much more.
  return static_cast<Billionths>(std::min<unsigned __int128>(share, 2 * whole_unit));
}

std::vector<std::size_t> options_of(const AdmissionTask& task) {
  std::vector<std::size_t> options;
  for (std::size_t p = 0; p < task.times.size(); ++p)
    if (task.times[p] && *task.times[p] <= task.deadline && utilisation(task, p) <= whole_unit)
      options.push_back(p);
  return options;
}

std::vector<Billionths> loads_of(const AdmissionProblem& problem, const AdmissionChoice& choice) {
  std::vector<Billionths> loads(problem.units.size(), 0);
  for (std::size_t t = 0; t < choice.size(); ++t)
    for (std::size_t unit : problem.processors[choice[t]].units)
      loads[unit] += utilisation(problem.tasks[t], choice[t]);
  return loads;
}

bool fits(const AdmissionProblem& problem, const AdmissionChoice& choice) {
  std::vector<bool> used(problem.processors.size(), false);
  for (std::size_t t = 0; t < choice.size(); ++t) {
    const std::vector<std::size_t> options = options_of(problem.tasks[t]);
    if (!std::ranges::binary_search(options, choice[t])) return false;
    used[choice[t]] = true;
  }
  for (const auto& [a, b] : problem.exclusive)
    if (used[a] && used[b]) return false;
  return std::ranges::none_of(loads_of(problem, choice),
                              [](Billionths load) { return load > whole_unit; });
}

AdmissionProblem only_tasks(const AdmissionProblem& problem,
                            const std::vector<std::size_t>& tasks) {
  AdmissionProblem result = problem;
  result.tasks.clear();
  for (std::size_t task : tasks) result.tasks.push_back(problem.tasks[task]);
  return result;
}

}  // namespace millrace::explore
