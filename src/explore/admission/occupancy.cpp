#include "explore/admission/occupancy.h"

#include <algorithm>

namespace millrace::explore {
namespace {

/// Whether two tasks differ in nothing but their names.
bool are_equal(const AdmissionProblem& problem, const AdmissionOptions& options, std::size_t a,
               std::size_t b) {
  AdmissionTask renamed = problem.tasks[b];
  renamed.name = problem.tasks[a].name;
  const bool weigh_as_much =
      options.goal != AdmissionGoal::weighted || options.weights.at(a) == options.weights.at(b);
  return weigh_as_much && renamed == problem.tasks[a];
}

std::vector<PlaceOption> place_options(const AdmissionProblem& problem,
                                       const AdmissionOptions& options, std::size_t task) {
  std::vector<PlaceOption> result;
  for (const std::size_t processor : options_of(problem.tasks[task])) {
    PlaceOption option{processor, cost_of_task(problem, options, task, processor), {}};
    for (const UnitShare& each : shares_of(problem, task, processor)) {
      const UnitParts parts = rounded_down(each.share);
      option.uses.push_back(
          {each.unit, parts, static_cast<double>(parts) / static_cast<double>(whole_unit)});
    }
    result.push_back(std::move(option));
  }
  return result;
}

}  // namespace

Occupancy::Occupancy(const AdmissionProblem& problem, const AdmissionOptions& options)
    : problem_(problem),
      before_(problem.tasks.size()),
      behind_(problem.tasks.size()),
      excludes_(problem.processors.size()),
      choice_(problem.tasks.size(), nowhere),
      loads_(problem.units.size(), 0),
      on_unit_(problem.units.size(), 0),
      users_(problem.processors.size(), 0) {
  alike_ = are_alike(problem);
  for (std::size_t t = 0; t < problem.tasks.size(); ++t) {
    options_.push_back(place_options(problem, options, t));
    for (std::size_t other = t; other-- > 0 && !before_[t];)
      if (alike_[t] == alike_[other] && are_equal(problem, options, t, other)) before_[t] = other;
    if (before_[t]) behind_[*before_[t]] = t;
  }
  for (const auto& [a, b] : problem.exclusive) {
    excludes_[a].push_back(b);
    excludes_[b].push_back(a);
  }
  count_.assign(problem.tasks.size(), std::vector<std::size_t>(problem.processors.size(), 0));
  refused_with_.assign(problem.tasks.size(),
                       std::vector<std::vector<std::size_t>>(problem.processors.size()));
  for (const std::vector<Placed>& places : problem.refused) add_refused(places);
}

void Occupancy::add_refused(const std::vector<Placed>& places) {
  std::vector<Alike> counts;
  for (const Placed& place : places) {
    const std::size_t first = alike_[place.task];
    const auto found = std::ranges::find_if(counts, [&](const Alike& each) {
      return each.first == first && each.processor == place.processor;
    });
    if (found != counts.end()) {
      ++found->count;
      continue;
    }
    counts.push_back({first, place.processor, 1});
    refused_with_[first][place.processor].push_back(refused_.size());
  }
  refused_.push_back(std::move(counts));
}

bool Occupancy::is_refused(std::size_t task, std::size_t processor) const {
  const std::size_t first = alike_[task];
  return std::ranges::any_of(refused_with_[first][processor], [&](std::size_t number) {
    return std::ranges::all_of(refused_[number], [&](const Alike& each) {
      const bool is_this = each.first == first && each.processor == processor;
      return count_[each.first][each.processor] + (is_this ? 1 : 0) >= each.count;
    });
  });
}

bool Occupancy::may_have(std::size_t task, const PlaceOption& option) const {
  if (const auto& other = before_[task])
    if (is_placed(*other) && choice_[*other] > option.processor) return false;
  if (const auto& other = behind_[task])
    if (is_placed(*other) && choice_[*other] < option.processor) return false;
  const bool is_excluded = std::ranges::any_of(
      excludes_[option.processor], [&](std::size_t other) { return users_[other] > 0; });
  return !is_excluded && !is_refused(task, option.processor) && has_time(task, option);
}

bool Occupancy::has_time(std::size_t task, const PlaceOption& option) const {
  for (const PlaceOption::Use& use : option.uses) {
    const UnitParts sum = loads_[use.unit] + use.parts;
    if (sum > whole_unit) return false;
    // Each share was rounded down by less than one part.
    if (sum + static_cast<UnitParts>(on_unit_[use.unit]) + 1 <= whole_unit) continue;
    if (!has_time_exactly(use.unit, task, option)) return false;
  }
  return true;
}

bool Occupancy::has_time_exactly(std::size_t unit, std::size_t task,
                                 const PlaceOption& option) const {
  AdmissionChoice choice = choice_;
  choice[task] = option.processor;
  std::vector<Share> shares;
  for (std::size_t t = 0; t < choice.size(); ++t) {
    if (choice[t] == nowhere) continue;
    for (const UnitShare& each : shares_of(problem_, t, choice[t]))
      if (each.unit == unit) shares.push_back(each.share);
  }
  return at_most_one(shares);
}

void Occupancy::put(std::size_t task, const PlaceOption& option) {
  for (const PlaceOption::Use& use : option.uses) {
    loads_[use.unit] += use.parts;
    ++on_unit_[use.unit];
  }
  ++users_[option.processor];
  ++count_[alike_[task]][option.processor];
  cost_ += option.cost;
  choice_[task] = option.processor;
}

void Occupancy::take(std::size_t task, const PlaceOption& option) {
  for (const PlaceOption::Use& use : option.uses) {
    loads_[use.unit] -= use.parts;
    --on_unit_[use.unit];
  }
  --users_[option.processor];
  --count_[alike_[task]][option.processor];
  cost_ -= option.cost;
  choice_[task] = nowhere;
}

}  // namespace millrace::explore
