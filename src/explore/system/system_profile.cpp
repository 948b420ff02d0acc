#include "explore/system/system_profile.h"

#include <fmt/format.h>

#include <array>

#include "base/error.h"
#include "base/json.h"
#include "profile/profile_file.h"
#include "system/task_times.h"

namespace millrace::explore {
namespace {

using nlohmann::json;

constexpr int format = 1;

TaskProfile task_in(const JsonView& view) {
  static constexpr std::array<std::string_view, 6> known{"group",     "task",  "function",
                                                         "processor", "times", "best_ns"};
  view.only(known);
  TaskProfile result{view.at("group").text(),
                     view.at("task").text(),
                     view.at("function").text(),
                     view.at("processor").text(),
                     profile::statistics_in(view.at("times")),
                     profile::time_in(view.at("best_ns"))};
  const profile::Statistics& times = result.times;
  if (times.worst_case <= Time{} || result.best > times.mean || times.mean > times.worst_case)
    view.at("times").fail(
        "expected the best time, the mean and the worst case ascending, and the last above 0; "
        "measure again");
  return result;
}

StepsProfile steps_in(const JsonView& view) {
  static constexpr std::array<std::string_view, 3> known{"group", "preprocess_ns",
                                                         "postprocess_ns"};
  view.only(known);
  return {
      view.at("group").text(),
      {profile::time_in(view.at("preprocess_ns")), profile::time_in(view.at("postprocess_ns"))}};
}

/// Times of the group's task, on all its processors.
std::vector<system::MeasuredTimes> times_of_task(const ProfileToUse& use,
                                                 const system::Group& group,
                                                 const system::GraphTask& task,
                                                 const board::Board& board) {
  std::vector<system::MeasuredTimes> result;
  for (const TaskProfile& each : use.profile.tasks) {
    if (each.group != group.name || each.task != task.name) continue;
    if (each.function != task.code.function)
      throw InputError(use.file,
                       fmt::format("task '{}' of group '{}' had the function '{}' when it was "
                                   "measured, and now has '{}'; measure again",
                                   task.name, group.name, each.function, task.code.function));
    for (std::size_t p = 0; p < board.processors.size(); ++p)
      if (board.processors[p].name == each.processor)
        result.push_back({p, each.times.worst_case, each.times.mean, each.best});
  }
  return result;
}

void check_machine(const ProfileToUse& use, const std::string& board_hash) {
  if (use.profile.board != board_hash)
    throw InputError(use.file,
                     "was measured on another machine; measure again with 'millrace "
                     "profile'");
}

const TaskProfile* profile_of(const SystemProfile& profile, const system::Group& group,
                              const deployment::Task& task) {
  if (task.step != deployment::Step::task) return nullptr;
  const std::string& name = group.graph.tasks.at(task.node).name;
  for (const TaskProfile& each : profile.tasks)
    if (each.group == group.name && each.task == name && each.processor == task.processor)
      return &each;
  return nullptr;
}

}  // namespace

json to_json(const SystemProfile& profile) {
  json tasks = json::array(), steps = json::array(), networks = json::array();
  for (const TaskProfile& each : profile.tasks)
    tasks.push_back({{"group", each.group},
                     {"task", each.task},
                     {"function", each.function},
                     {"processor", each.processor},
                     {"times", profile::to_json(each.times)},
                     {"best_ns", each.best.count()}});
  for (const StepsProfile& each : profile.steps)
    steps.push_back({{"group", each.group},
                     {"preprocess_ns", each.worst.preprocess.count()},
                     {"postprocess_ns", each.worst.postprocess.count()}});
  for (const profile::Profile& each : profile.networks) networks.push_back(profile::to_json(each));
  return {{"format", format},       {"kind", "system_profile"}, {"system", profile.system},
          {"board", profile.board}, {"tasks", tasks},           {"steps", steps},
          {"networks", networks}};
}

void write_system_profile(const std::filesystem::path& path, const SystemProfile& profile) {
  write_json(path, to_json(profile));
}

SystemProfile read_system_profile(const std::filesystem::path& path) {
  static constexpr std::array<std::string_view, 7> known{"format", "kind",  "system",  "board",
                                                         "tasks",  "steps", "networks"};
  const json document = read_json(path);
  const JsonView view(document, path.string());
  if (view.at("kind").text() != "system_profile")
    view.at("kind").fail(
        fmt::format("found '{}', expected 'system_profile'; 'millrace profile "
                    "SYSTEM' makes one",
                    view.at("kind").text()));
  if (view.at("format").integer() != format)
    view.at("format").fail(fmt::format("found {}, expected {}; measure again with this version",
                                       view.at("format").integer(), format));
  view.only(known);
  SystemProfile result{view.at("system").text(), view.at("board").text(), {}, {}, {}};
  for (const JsonView& each : view.at("tasks").items()) result.tasks.push_back(task_in(each));
  for (const JsonView& each : view.at("steps").items()) result.steps.push_back(steps_in(each));
  for (const JsonView& each : view.at("networks").items())
    result.networks.push_back(profile::profile_in(each));
  return result;
}

void fill_in(system::System& system, const board::Board& board, const ProfileToUse& use) {
  check_machine(use, board::hash_of(board));
  for (system::Group& group : system.groups) {
    for (system::GraphTask& task : group.graph.tasks)
      if (system::has_times_to_measure(task))
        system::fill_in(task, board, times_of_task(use, group, task, board));
    for (const StepsProfile& each : use.profile.steps) {
      if (each.group != group.name || group.application.empty()) continue;
      if (!group.preprocess) group.preprocess = each.worst.preprocess;
      if (!group.postprocess) group.postprocess = each.worst.postprocess;
    }
  }
}

bool has_times_of(const SystemProfile& profile, const deployment::Deployment& deployment) {
  for (std::size_t g = 0; g < deployment.assignments.size(); ++g)
    for (const deployment::Task& task : deployment.assignments[g].tasks)
      if (profile_of(profile, deployment.system.groups[g], task) != nullptr) return true;
  return false;
}

deployment::Deployment with_task_times(deployment::Deployment deployment, const ProfileToUse& use) {
  check_machine(use, deployment.board_hash);
  for (std::size_t g = 0; g < deployment.assignments.size(); ++g) {
    auto& tasks = deployment.assignments[g].tasks;
    const auto count = static_cast<std::int64_t>(tasks.size());
    const Time share = (deployment.system.overhead + Time(count - 1)) / count;
    for (deployment::Task& task : tasks) {
      const TaskProfile* measured = profile_of(use.profile, deployment.system.groups[g], task);
      if (measured == nullptr) continue;
      task.worst = measured->times.worst_case + share;
      task.average = measured->times.mean;
      task.best = measured->best;
      task.kernels.clear();
    }
  }
  return deployment;
}

}  // namespace millrace::explore
