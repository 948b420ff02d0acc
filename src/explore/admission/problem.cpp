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
    if (processor.link && *processor.link >= problem.units.size())
      throw InputError(place, "it names a link that is not there");
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

void check_order(const AdmissionProblem& problem, const AdmissionTask& task, std::size_t depth) {
  const std::string place = fmt::format("task '{}'", task.name);
  if (depth > problem.tasks.size()) throw InputError(place, "it waits for itself");
  for (const std::size_t before : task.after) {
    if (before >= problem.tasks.size())
      throw InputError(place, "it is after a task that is not there");
    check_order(problem, problem.tasks[before], depth + 1);
  }
}

/// The way to the task that takes longest.
struct Way {
  std::vector<Placed> places;
  Time length{};
};

Way longest_way(const AdmissionProblem& problem, const AdmissionChoice& choice, std::size_t task) {
  Way longest;
  for (const std::size_t before : problem.tasks[task].after)
    if (Way way = longest_way(problem, choice, before); way.length > longest.length)
      longest = std::move(way);
  longest.places.push_back({task, choice[task]});
  longest.length += time_with_transfers(problem.tasks[task], choice[task]);
  return longest;
}

/// Whether all of it is in the choice, each of some tasks that are alike in the place of another.
bool has_all(const AdmissionChoice& choice, const std::vector<Placed>& refused,
             const std::vector<std::size_t>& alike) {
  return std::ranges::all_of(refused, [&](const Placed& place) {
    const auto is_as = [&](std::size_t task, std::size_t processor) {
      return alike[task] == alike[place.task] && processor == place.processor;
    };
    const auto needed = std::ranges::count_if(
        refused, [&](const Placed& each) { return is_as(each.task, each.processor); });
    std::ptrdiff_t found = 0;
    for (std::size_t t = 0; t < choice.size(); ++t) found += is_as(t, choice[t]);
    return found >= needed;
  });
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
    if (!task.transfers.empty() && task.transfers.size() != task.times.size())
      throw InputError(place, "its transfers are not of the same processors as its times");
    check_times(task, place);
    check_order(problem, task, 0);
  }
  for (const std::vector<Placed>& places : problem.refused)
    for (const Placed& each : places)
      if (each.task >= problem.tasks.size() || each.processor >= problem.processors.size())
        throw InputError("refused", "found a task or processor that is not there");
}

Share utilisation(const AdmissionTask& task, std::size_t processor) {
  return {*task.times[processor], task.period};
}

LinkTimes transfers_of(const AdmissionTask& task, std::size_t processor) {
  return task.transfers.empty() ? LinkTimes{} : task.transfers[processor];
}

Share link_utilisation(const AdmissionTask& task, std::size_t processor) {
  const LinkTimes times = transfers_of(task, processor);
  return {times.in + times.out, task.period};
}

Time time_with_transfers(const AdmissionTask& task, std::size_t processor) {
  const LinkTimes times = transfers_of(task, processor);
  return times.in + *task.times[processor] + times.out;
}

std::vector<UnitShare> shares_of(const AdmissionProblem& problem, std::size_t task,
                                 std::size_t processor) {
  std::vector<UnitShare> shares;
  const SharedProcessor& on = problem.processors[processor];
  const Share share = utilisation(problem.tasks[task], processor);
  for (const std::size_t unit : on.units) shares.push_back({unit, share});
  const Share link = link_utilisation(problem.tasks[task], processor);
  if (on.link && link.busy > Time{}) shares.push_back({*on.link, link});
  return shares;
}

std::vector<std::size_t> options_of(const AdmissionTask& task) {
  std::vector<std::size_t> options;
  for (std::size_t p = 0; p < task.times.size(); ++p)
    if (task.times[p] && time_with_transfers(task, p) <= task.deadline &&
        *task.times[p] <= task.period && link_utilisation(task, p).busy <= task.period)
      options.push_back(p);
  return options;
}

std::vector<double> loads_of(const AdmissionProblem& problem, const AdmissionChoice& choice) {
  std::vector<double> loads(problem.units.size(), 0);
  for (std::size_t t = 0; t < choice.size(); ++t)
    for (const UnitShare& each : shares_of(problem, t, choice[t]))
      loads[each.unit] += each.share.value();
  return loads;
}

std::vector<std::size_t> are_alike(const AdmissionProblem& problem) {
  std::vector<bool> in_order(problem.tasks.size(), false);
  for (std::size_t t = 0; t < problem.tasks.size(); ++t)
    for (const std::size_t before : problem.tasks[t].after) in_order[before] = in_order[t] = true;
  std::vector<std::size_t> result;
  for (std::size_t t = 0; t < problem.tasks.size(); ++t) {
    AdmissionTask same = problem.tasks[t];
    std::size_t first = in_order[t] ? t : 0;
    for (; first < t; ++first) {
      same.name = problem.tasks[first].name;
      same.energy = problem.tasks[first].energy;
      if (!in_order[first] && same == problem.tasks[first]) break;
    }
    result.push_back(first);
  }
  return result;
}

std::vector<Placed> late_way(const AdmissionProblem& problem, const AdmissionChoice& choice) {
  for (std::size_t t = 0; t < choice.size(); ++t) {
    const AdmissionTask& task = problem.tasks[t];
    if (task.after.empty() && !task.end_to_end) continue;
    // All first jobs are activated together.
    const Time limit =
        std::min({task.deadline, task.period, task.end_to_end.value_or(task.deadline)});
    if (Way way = longest_way(problem, choice, t); way.length > limit) return way.places;
  }
  return {};
}

bool fits(const AdmissionProblem& problem, const AdmissionChoice& choice) {
  std::vector<bool> used(problem.processors.size(), false);
  std::vector<std::vector<Share>> on_unit(problem.units.size());
  for (std::size_t t = 0; t < choice.size(); ++t) {
    const std::vector<std::size_t> options = options_of(problem.tasks[t]);
    if (!std::ranges::binary_search(options, choice[t])) return false;
    used[choice[t]] = true;
    for (const UnitShare& each : shares_of(problem, t, choice[t]))
      on_unit[each.unit].push_back(each.share);
  }
  for (const auto& [a, b] : problem.exclusive)
    if (used[a] && used[b]) return false;
  if (!problem.refused.empty()) {
    const std::vector<std::size_t> alike = are_alike(problem);
    for (const std::vector<Placed>& refused : problem.refused)
      if (has_all(choice, refused, alike)) return false;
  }
  return late_way(problem, choice).empty() && std::ranges::all_of(on_unit, at_most_one);
}

AdmissionProblem only_tasks(const AdmissionProblem& problem,
                            const std::vector<std::size_t>& tasks) {
  AdmissionProblem result = problem;
  result.tasks.clear();
  const auto place_of = [&](std::size_t task) {
    return static_cast<std::size_t>(std::ranges::find(tasks, task) - tasks.begin());
  };
  for (const std::size_t task : tasks) {
    AdmissionTask& kept = result.tasks.emplace_back(problem.tasks[task]);
    kept.after.clear();
    for (const std::size_t before : problem.tasks[task].after)
      if (place_of(before) < tasks.size()) kept.after.push_back(place_of(before));
  }
  for (std::vector<Placed>& refused : result.refused)
    for (Placed& each : refused) each.task = place_of(each.task);
  std::erase_if(result.refused, [&](const std::vector<Placed>& refused) {
    return std::ranges::any_of(refused,
                               [&](const Placed& each) { return each.task >= tasks.size(); });
  });
  return result;
}

}  // namespace millrace::explore
