#include "explore/graphs/mapping.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "explore/system/placement.h"
#include "explore/system/settings.h"
#include "system/task_times.h"

namespace millrace::explore {
namespace {

using system::GroupId;

std::vector<TaskPlace> places_of(const system::GraphTask& task, const board::Board& board) {
  std::vector<TaskPlace> places;
  for (std::size_t kind = 0; kind < task.on.size(); ++kind) {
    const system::TimesOn& on = task.on[kind];
    for (const std::size_t p : system::processors_of(task, on, board))
      places.push_back({p, kind, on.worst, on.average, on.best});
  }
  return places;
}

void add_tasks(MappingProblem& problem, GroupId group) {
  const system::Group& of = problem.system[group];
  auto& jobs = problem.jobs.emplace_back();
  if (of.graph.empty()) return;
  jobs = system::unfolded(of.graph, of.has_network());
  const std::vector<std::int64_t> counts = system::firings(of.graph, of.has_network());
  for (std::size_t t = 0; t < of.graph.tasks.size(); ++t)
    problem.tasks.push_back({group, t, counts[t], places_of(of.graph.tasks[t], problem.board)});
}

double share(Time time, std::int64_t count, Time period) {
  return seconds(time) * static_cast<double>(count) / seconds(period);
}

Time period_of_group(const MappingProblem& problem, GroupId group) {
  return period_of(problem.system, group, problem.system.levels - 1);
}

/// Tasks in the place of a job: which end it, and where its own begin.
struct JobTasks {
  std::vector<std::size_t> last;
};

class Grafting {
 public:
  Grafting(const MappingProblem& problem, const Mapping& mapping, GroupId group)
      : problem_(problem), mapping_(mapping), group_(group) {}

  deployment::Assignment make() {
    result_.priority = problem_.priorities[group_.index];
    const auto& jobs = problem_.jobs[group_.index];
    const bool has_network = problem_.system[group_].has_network();
    if (jobs.empty() && !problem_.plans[group_.index].empty()) add_network({});
    std::vector<JobTasks> ends;
    for (const system::GraphJob& job : jobs) {
      std::vector<std::size_t> after;
      for (const std::size_t before : job.after)
        after.insert(after.end(), ends[before].last.begin(), ends[before].last.end());
      const bool is_network = has_network && job.task == problem_.system[group_].graph.network();
      ends.push_back(is_network ? add_network(after) : add_task(job, after));
    }
    return std::move(result_);
  }

 private:
  JobTasks add_network(const std::vector<std::size_t>& after) {
    const auto& plan = problem_.plans[group_.index][mapping_.plans[group_.index]];
    const std::size_t first = result_.tasks.size();
    std::vector<bool> is_last(plan.assignment.tasks.size(), true);
    for (std::size_t t = 0; t < plan.assignment.tasks.size(); ++t) {
      deployment::Task task = plan.assignment.tasks[t];
      const std::size_t processor = mapping_.stages[group_.index][t];
      task.processor = problem_.board.processors[processor].name;
      for (std::size_t& before : task.after) {
        is_last[before] = false;
        before += first;
      }
      if (task.after.empty()) task.after = after;
      result_.tasks.push_back(std::move(task));
    }
    JobTasks result;
    for (std::size_t t = 0; t < is_last.size(); ++t)
      if (is_last[t]) result.last.push_back(first + t);
    return result;
  }

  JobTasks add_task(const system::GraphJob& job, const std::vector<std::size_t>& after) {
    const system::GraphTask& of = problem_.system[group_].graph.tasks[job.task];
    const TaskPlace& place = place_of(job.task);
    deployment::Task task;
    task.name = job.firing == 0 ? of.name : fmt::format("{}.{}", of.name, job.firing);
    task.step = deployment::Step::task;
    task.node = job.task;
    task.firing = job.firing;
    task.processor = problem_.board.processors[place.processor].name;
    task.worst = place.worst;
    task.average = place.average;
    task.best = place.best;
    task.after = after;
    result_.tasks.push_back(std::move(task));
    return {{result_.tasks.size() - 1}};
  }

  const TaskPlace& place_of(std::size_t task) const {
    const auto at = std::ranges::find_if(problem_.tasks, [&](const TaskChoice& choice) {
      return choice.group == group_ && choice.task == task;
    });
    return at->places[mapping_.tasks[static_cast<std::size_t>(at - problem_.tasks.begin())]];
  }

  const MappingProblem& problem_;
  const Mapping& mapping_;
  const GroupId group_;
  deployment::Assignment result_;
};

/// A stage of a network, or one of its steps on a core.
struct Stage {
  std::size_t group = 0, stage = 0;
  Time worst{};
  std::vector<std::size_t> equal;  // processors that it may get
  bool is_phase = false;           // then no other stage of the group is on the same processor
};

std::vector<Stage> stages_to_place(const MappingProblem& problem, const Combination& plans) {
  std::vector<Stage> stages;
  for (std::size_t g = 0; g < problem.plans.size(); ++g) {
    if (problem.plans[g].empty()) continue;
    const deployment::Assignment& assignment = problem.plans[g][plans[g]].assignment;
    const std::vector<std::size_t> numbers = stages_of_tasks(assignment);
    for (std::size_t t = 0; t < numbers.size(); ++t) {
      const auto at = std::ranges::find_if(stages, [&](const Stage& stage) {
        return stage.group == g && stage.stage == numbers[t];
      });
      if (at != stages.end())
        at->worst += assignment.tasks[t].worst;
      else
        stages.push_back({g, numbers[t], assignment.tasks[t].worst,
                          equal_processors(problem.board, assignment.tasks[t].processor),
                          assignment.tasks[t].step == deployment::Step::phase});
    }
  }
  return stages;
}

/// What a kind of processor would be with the task on its least used one.
struct Offer {
  std::size_t place = 0;
  double value = 0;
};

Offer offer_of(const MappingProblem& problem, const TaskChoice& task, std::size_t kind,
               const std::vector<double>& used) {
  Offer offer;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t p = 0; p < task.places.size(); ++p) {
    const TaskPlace& place = task.places[p];
    if (place.kind != kind) continue;
    offer.value = std::max(offer.value, used[place.processor]);
    if (used[place.processor] < least) {
      least = used[place.processor];
      offer.place = p;
    }
  }
  const Time period = period_of_group(problem, task.group);
  offer.value =
      std::max(offer.value, least + share(task.places[offer.place].worst, task.firings, period));
  return offer;
}

/// The fastest of the plans on the fewest processors.
std::size_t plan_in_one_piece(const std::vector<GroupPlan>& plans) {
  const auto size = [](const GroupPlan& plan) {
    std::set<std::string> processors;
    for (const deployment::Task& task : plan.assignment.tasks) processors.insert(task.processor);
    return std::pair(processors.size(), alone_at_worst(plan.assignment));
  };
  return static_cast<std::size_t>(std::ranges::min_element(plans, {}, size) - plans.begin());
}

/// Where the task runs on this processor; else where it is fastest.
std::size_t place_on(const TaskChoice& task, std::size_t processor) {
  auto place = std::ranges::find(task.places, processor, &TaskPlace::processor);
  if (place == task.places.end())
    place = std::ranges::min_element(task.places, {}, &TaskPlace::worst);
  return static_cast<std::size_t>(place - task.places.begin());
}

/// Adds what the group's tasks do where they were put.
void add_use(const MappingProblem& problem, const Mapping& mapping, std::size_t group,
             std::vector<double>& used) {
  for (std::size_t t = 0; t < problem.tasks.size(); ++t) {
    const TaskChoice& task = problem.tasks[t];
    if (task.group.index != group) continue;
    const TaskPlace& place = task.places[mapping.tasks[t]];
    used[place.processor] += share(place.worst, task.firings, period_of_group(problem, task.group));
  }
}

void put_tasks(const MappingProblem& problem, std::size_t group, std::size_t processor,
               Mapping& mapping) {
  for (std::size_t t = 0; t < problem.tasks.size(); ++t)
    if (problem.tasks[t].group.index == group)
      mapping.tasks[t] = place_on(problem.tasks[t], processor);
}

Time longest_of(const TaskChoice& task) {
  return std::ranges::max_element(task.places, {}, &TaskPlace::worst)->worst * task.firings;
}

}  // namespace

MappingProblem mapping_problem(const system::System& system, const board::Board& board,
                               std::vector<std::vector<GroupPlan>> plans) {
  MappingProblem problem{system, board, std::move(plans), {}, {}, priorities_of(system)};
  for (std::size_t g = 0; g < system.groups.size(); ++g) add_tasks(problem, GroupId(g));
  for (std::size_t g = 0; g < problem.plans.size(); ++g)
    for (GroupPlan& plan : problem.plans[g]) plan.assignment.priority = problem.priorities[g];
  return problem;
}

deployment::Assignment grafted(const MappingProblem& problem, const Mapping& mapping,
                               GroupId group) {
  return Grafting(problem, mapping, group).make();
}

Placement place_networks(const MappingProblem& problem, const Combination& plans) {
  std::vector<Stage> stages = stages_to_place(problem, plans);
  std::ranges::stable_sort(stages, std::greater{}, &Stage::worst);
  std::map<std::size_t, std::size_t> next;  // by the first of the equal ones
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> given;  // by group and stage
  std::set<std::pair<std::size_t, std::size_t>> taken;  // group and processor, by phases
  for (const Stage& stage : stages) {
    std::size_t processor = 0;
    for (std::size_t tried = 0; tried < stage.equal.size(); ++tried) {
      processor = stage.equal[next[stage.equal.front()]++ % stage.equal.size()];
      if (!stage.is_phase || taken.insert({stage.group, processor}).second) break;
    }
    given[{stage.group, stage.stage}] = processor;
  }
  Placement result(problem.plans.size());
  for (std::size_t g = 0; g < problem.plans.size(); ++g) {
    if (problem.plans[g].empty()) continue;
    for (const std::size_t stage : stages_of_tasks(problem.plans[g][plans[g]].assignment))
      result[g].push_back(given.at({g, stage}));
  }
  return result;
}

Mapping fastest_mapping(const MappingProblem& problem) {
  Mapping result;
  for (const std::vector<GroupPlan>& plans : problem.plans) {
    const auto fastest = std::ranges::min_element(
        plans, {}, [](const GroupPlan& plan) { return alone_at_worst(plan.assignment); });
    result.plans.push_back(plans.empty() ? 0 : static_cast<std::size_t>(fastest - plans.begin()));
  }
  result.stages = place_networks(problem, result.plans);
  for (const TaskChoice& task : problem.tasks)
    result.tasks.push_back(static_cast<std::size_t>(
        std::ranges::min_element(task.places, {}, &TaskPlace::worst) - task.places.begin()));
  return result;
}

Mapping mapping_by_groups(const MappingProblem& problem) {
  Mapping result;
  for (const std::vector<GroupPlan>& plans : problem.plans)
    result.plans.push_back(plans.empty() ? 0 : plan_in_one_piece(plans));
  result.stages = place_networks(problem, result.plans);
  std::vector<GroupId> all;
  for (std::size_t g = 0; g < problem.plans.size(); ++g) all.emplace_back(g);
  std::vector<double> used = utilisations_of(problem, result, all);  // by the networks alone
  result.tasks.resize(problem.tasks.size());
  for (const bool with_network : {true, false})
    for (std::size_t g = 0; g < problem.plans.size(); ++g) {
      if (problem.plans[g].empty() == with_network) continue;
      const auto least = std::ranges::min_element(used) - used.begin();
      put_tasks(problem, g,
                with_network ? result.stages[g].front() : static_cast<std::size_t>(least), result);
      add_use(problem, result, g, used);
    }
  return result;
}

std::vector<double> utilisations_of(const MappingProblem& problem, const Mapping& mapping,
                                    const std::vector<GroupId>& groups) {
  std::vector<double> result(problem.board.processors.size(), 0);
  std::vector<bool> is_active(problem.system.groups.size(), false);
  for (const GroupId group : groups) {
    is_active[group.index] = true;
    if (problem.plans[group.index].empty()) continue;
    const auto& plan = problem.plans[group.index][mapping.plans[group.index]];
    for (std::size_t t = 0; t < plan.assignment.tasks.size(); ++t)
      result[mapping.stages[group.index][t]] +=
          share(plan.assignment.tasks[t].worst, 1, period_of_group(problem, group));
  }
  for (std::size_t t = 0; t < mapping.tasks.size(); ++t) {
    const TaskChoice& task = problem.tasks[t];
    if (!is_active[task.group.index]) continue;
    const TaskPlace& place = task.places[mapping.tasks[t]];
    result[place.processor] +=
        share(place.worst, task.firings, period_of_group(problem, task.group));
  }
  return result;
}

void map_tasks(const MappingProblem& problem, Mapping& mapping) {
  mapping.tasks.clear();
  std::vector<GroupId> all;
  for (std::size_t g = 0; g < problem.system.groups.size(); ++g) all.emplace_back(g);
  std::vector<double> used = utilisations_of(problem, mapping, all);
  std::vector<std::size_t> order(problem.tasks.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater{},
                           [&](std::size_t t) { return longest_of(problem.tasks[t]); });
  mapping.tasks.resize(problem.tasks.size());
  for (const std::size_t t : order) {
    const TaskChoice& task = problem.tasks[t];
    Offer best = offer_of(problem, task, 0, used);
    for (std::size_t kind = 1; kind <= task.places.back().kind; ++kind)
      if (const Offer offer = offer_of(problem, task, kind, used); offer.value < best.value)
        best = offer;
    mapping.tasks[t] = best.place;
    const TaskPlace& place = task.places[best.place];
    used[place.processor] += share(place.worst, task.firings, period_of_group(problem, task.group));
  }
}

}  // namespace millrace::explore
