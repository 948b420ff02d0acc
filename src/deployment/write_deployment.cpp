#include <nlohmann/json.hpp>

#include "base/json.h"
#include "deployment/deployment_file.h"
#include "deployment/words.h"
#include "system/system_file.h"

namespace millrace::deployment {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const Task& task, const Assignment& assignment, const system::Group& group) {
  Json json = {{"name", task.name},
               {"step", word_of(step_words, task.step)},
               {"processor", task.processor},
               {"worst_ms", milliseconds(task.worst)},
               {"average_ms", milliseconds(task.average)},
               {"best_ms", milliseconds(task.best)}};
  if (task.step == Step::phase) {
    json["stage"] = task.stage;
    json["phase"] = task.phase;
  }
  if (task.step == Step::task) {
    json["task"] = group.graph.tasks.at(task.node).name;
    json["firing"] = task.firing;
  }
  for (Time kernel : task.kernels) json["kernels_ms"].push_back(milliseconds(kernel));
  for (std::size_t before : task.after) json["after"].push_back(assignment.tasks.at(before).name);
  if (task.busy) json["busy_mw"] = task.busy->value;
  return json;
}

Json to_json(const Deployment& deployment, const Setting& setting) {
  const system::System& system = deployment.system;
  Json json = {{"scenario", system[setting.scenario].name},
               {"level", setting.level},
               {"clocks_mhz", Json::object()},
               {"bounds_ms", Json::object()}};
  for (const auto& [device, clock] : setting.clocks) json["clocks_mhz"][device] = clock.value;
  if (setting.power_mw > 0) json["power_mw"] = setting.power_mw;
  for (std::size_t g = 0; g < setting.bounds.size(); ++g)
    if (setting.bounds[g])
      json["bounds_ms"][system.groups[g].name] = milliseconds(*setting.bounds[g]);
  return json;
}

}  // namespace

void write_deployment(const std::filesystem::path& path, const Deployment& deployment,
                      const NetworkOf& network_of) {
  const std::filesystem::path folder = path.parent_path();
  const system::System& system = deployment.system;
  Json json = {{"format", 1},
               {"kind", "deployment"},
               {"method", deployment.method},
               {"contention", word_of(contention_words, deployment.contention)},
               {"board", {{"name", deployment.board_name}, {"hash", deployment.board_hash}}},
               {"system", system::to_json(system, folder)},
               {"assignments", Json::array()},
               {"settings", Json::array()}};
  for (std::size_t g = 0; g < system.groups.size(); ++g) {
    const Assignment& assignment = deployment.assignments.at(g);
    Json entry = {{"group", system.groups[g].name},
                  {"priority", assignment.priority},
                  {"tasks", Json::array()}};
    for (const Task& task : assignment.tasks)
      entry["tasks"].push_back(to_json(task, assignment, system.groups[g]));
    const plan::PlanFile& plan = assignment.plan;
    if (system.groups[g].has_network())
      entry["plan"] = plan::to_json(plan, network_of(plan.origin.model), folder);
    json["assignments"].push_back(std::move(entry));
  }
  for (const Setting& setting : deployment.settings)
    json["settings"].push_back(to_json(deployment, setting));
  write_json(path, json);
}

}  // namespace millrace::deployment
