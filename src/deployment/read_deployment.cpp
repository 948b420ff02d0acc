#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "deployment/deployment_file.h"
#include "deployment/plan_tasks.h"
#include "deployment/words.h"
#include "system/system_file.h"

namespace millrace::deployment {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t format = 1;
constexpr std::array<std::string_view, 8> deployment_keys{
    "format", "kind", "method", "contention", "board", "system", "assignments", "settings"};
constexpr std::array<std::string_view, 2> board_keys{"name", "hash"};
constexpr std::array<std::string_view, 4> assignment_keys{"group", "priority", "tasks", "plan"};
constexpr std::array<std::string_view, 13> task_keys{
    "name",  "step",       "processor", "worst_ms", "average_ms", "best_ms", "stage",
    "phase", "kernels_ms", "after",     "busy_mw",  "task",       "firing"};
constexpr std::array<std::string_view, 5> setting_keys{"scenario", "level", "clocks_mhz",
                                                       "power_mw", "bounds_ms"};
constexpr std::size_t most_stages = 1'000'000;
constexpr std::int64_t most_priority = 1'000'000'000;

double number_in(const JsonView& json, double most) {
  const double value = json.number();
  if (!(value >= 0 && value <= most))
    json.fail(fmt::format("found {}, expected 0 to {}", value, most));
  return value;
}

Time time_at(const JsonView& json) {
  constexpr double largest_ms = 1e9;
  return Time(std::llround(number_in(json, largest_ms) * 1e6));
}

template <std::size_t count>
std::size_t word_in(const JsonView& json, const std::array<std::string_view, count>& words) {
  const auto found = std::ranges::find(words, json.text());
  if (found == words.end())
    json.fail(fmt::format("found '{}', expected {}", json.text(), fmt::join(words, ", ")));
  return static_cast<std::size_t>(found - words.begin());
}

/// The position of what has this name; none: it fails.
template <class Items>
std::size_t named(const Items& items, const JsonView& json, const std::string& name,
                  std::string_view what) {
  const auto found = std::ranges::find_if(items, [&](const auto& one) { return one.name == name; });
  if (found != items.end()) return static_cast<std::size_t>(found - items.begin());
  std::vector<std::string_view> known;
  for (const auto& item : items) known.push_back(item.name);
  json.fail(fmt::format("there is no {} '{}'{}", what, name, did_you_mean(name, known)));
}

class DeploymentReader {
 public:
  DeploymentReader(const JsonView& root, const NetworkOf& network_of, const fs::path& folder)
      : root_(root), network_of_(network_of), folder_(folder) {}

  Deployment read(system::System system) {
    result_.system = std::move(system);
    result_.method = root_.at("method").text();
    result_.contention = static_cast<Contention>(word_in(root_.at("contention"), contention_words));
    root_.at("board").only(board_keys);
    result_.board_name = root_.at("board").at("name").text();
    result_.board_hash = root_.at("board").at("hash").text();
    read_assignments(root_.at("assignments"));
    for (const JsonView& json : root_.at("settings").items()) read_setting(json);
    return std::move(result_);
  }

 private:
  const std::vector<system::Group>& groups() const { return result_.system.groups; }

  void read_assignments(const JsonView& list) {
    std::vector<std::optional<Assignment>> read(groups().size());
    for (const JsonView& json : list.items()) {
      json.only(assignment_keys);
      const JsonView group = json.at("group");
      const std::size_t index = named(groups(), group, group.text(), "group");
      std::optional<Assignment>& place = read[index];
      if (place) group.fail(fmt::format("a second assignment of '{}'; remove one", group.text()));
      place = read_assignment(json, groups()[index]);
    }
    for (std::size_t g = 0; g < read.size(); ++g) {
      if (!read[g])
        list.fail(fmt::format("the one of group '{}' is missing; deploy the system again",
                              groups()[g].name));
      result_.assignments.push_back(std::move(*read[g]));
    }
  }

  Assignment read_assignment(const JsonView& json, const system::Group& group) const {
    Assignment assignment;
    assignment.priority = json.at("priority").integer();
    if (assignment.priority < -most_priority || assignment.priority > most_priority)
      json.at("priority")
          .fail(fmt::format("found {}, expected -{} to {}", assignment.priority, most_priority,
                            most_priority));
    for (const JsonView& task : json.at("tasks").items())
      assignment.tasks.push_back(read_task(task, {assignment, group}));
    if (!group.has_network()) return assignment;
    const JsonView plan = json.at("plan");
    assignment.plan.origin = plan::read_plan_origin(plan, folder_);
    if (network_of_)
      assignment.plan = plan::read_plan(plan, network_of_(assignment.plan.origin.model), folder_);
    else
      check_with_plan(group, assignment, plan);
    return assignment;
  }

  /// What check() finds where the plan is read.
  void check_with_plan(const system::Group& group, const Assignment& assignment,
                       const JsonView& plan) const {
    const PlanShape shape = read_shape(plan);
    try {
      check_plan_tasks(group, assignment, shape);
    } catch (const InputError& error) {
      throw InputError(root_.place(), error.what());
    }
  }

  /// What is known before a task is read.
  struct TaskPlace {
    const Assignment& before;
    const system::Group& group;
  };

  static Task read_task(const JsonView& json, const TaskPlace& place) {
    json.only(task_keys);
    Task task{.name = json.at("name").text(), .processor = json.at("processor").text()};
    task.step = static_cast<Step>(word_in(json.at("step"), step_words));
    task.worst = time_at(json.at("worst_ms"));
    if (task.worst <= Time{}) json.at("worst_ms").fail("expected more than 0");
    task.average = time_at(json.at("average_ms"));
    task.best = time_at(json.at("best_ms"));
    if (task.step == Step::phase) {
      task.stage = json.at("stage").index(most_stages);
      task.phase = json.at("phase").index(most_stages);
    }
    if (task.step == Step::task) {
      const JsonView name = json.at("task");
      task.node = named(place.group.graph.tasks, name, name.text(), "task of the group's graph");
      task.firing = static_cast<std::int64_t>(json.at("firing").index(most_stages));
    }
    if (json.has("kernels_ms"))
      for (const JsonView& kernel : json.at("kernels_ms").items())
        task.kernels.push_back(time_at(kernel));
    if (json.has("after"))
      for (const JsonView& name : json.at("after").items())
        task.after.push_back(named(place.before.tasks, name, name.text(), "earlier task"));
    constexpr double most_mw = 1e7;
    if (json.has("busy_mw")) task.busy = board::Milliwatts{number_in(json.at("busy_mw"), most_mw)};
    return task;
  }

  void read_setting(const JsonView& json) {
    json.only(setting_keys);
    const system::System& system = result_.system;
    const JsonView scenario = json.at("scenario");
    Setting setting;
    setting.scenario =
        system::ScenarioId(named(system.scenarios, scenario, scenario.text(), "scenario"));
    setting.level = json.at("level").integer();
    const JsonView clocks = json.at("clocks_mhz"), bounds = json.at("bounds_ms");
    constexpr double most_mhz = 1e6, most_mw = 1e8;
    for (const std::string& device : clocks.keys())
      setting.clocks[device] = {number_in(clocks.at(device), most_mhz)};
    if (json.has("power_mw")) setting.power_mw = number_in(json.at("power_mw"), most_mw);
    setting.bounds.resize(groups().size());
    for (const std::string& group : bounds.keys())
      setting.bounds[named(groups(), bounds, group, "group")] = time_at(bounds.at(group));
    result_.settings.push_back(std::move(setting));
  }

  JsonView root_;
  const NetworkOf& network_of_;
  fs::path folder_;
  Deployment result_;
};

void check_head(const JsonView& root) {
  if (!root.has("kind") || !root.at("kind").is_text() || root.at("kind").text() != "deployment")
    root.fail("is no deployment: its field 'kind' does not say so");
  if (const std::int64_t found = root.at("format").integer(); found != format)
    root.at("format").fail(
        fmt::format("found {}, expected {}; deploy the system again with this version of Millrace",
                    found, format));
  root.only(deployment_keys);
  root.at("system").at("format");
}

system::System system_of(const nlohmann::json& document, const fs::path& path) {
  check_head(JsonView(document, path.string()));
  return system::system_in(document.at("system"), path.string());
}

}  // namespace

bool is_deployment_file(const fs::path& path) {
  if (path.extension() != ".json") return false;
  const nlohmann::json document = read_json(path);
  return document.is_object() && document.value("kind", nlohmann::json()) == "deployment";
}

system::System read_deployment_system(const fs::path& path) {
  return system_of(read_json(path), path);
}

Deployment read_deployment(const fs::path& path, const NetworkOf& network_of) {
  const nlohmann::json document = read_json(path);
  system::System system = system_of(document, path);
  const JsonView root(document, path.string());
  Deployment result =
      DeploymentReader(root, network_of, path.parent_path()).read(std::move(system));
  try {
    check(result);
  } catch (const InputError& error) {
    throw InputError(path.string(), error.what());
  }
  return result;
}

}  // namespace millrace::deployment
