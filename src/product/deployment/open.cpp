#include "product/deployment/open.h"

#include <fmt/format.h>

#include <algorithm>

#include "application/application_file.h"
#include "base/error.h"
#include "base/file.h"
#include "product/memory/in_memory.h"
#include "product/open_model.h"
#include "product/setup.h"
#include "schedule/graph.h"
#include "system/system_file.h"

namespace millrace::product {
namespace {

/// They are part of the step after the network, wherever that runs.
void check_crops(const system::Group& group, const application::Crops& crops) {
  const char* given = !crops.plan.empty()        ? "plan"
                      : !crops.processor.empty() ? "processor"
                                                 : nullptr;
  if (given != nullptr)
    throw InputError(crops.place,
                     fmt::format("group '{}' runs crops on the core of its post-processing, so "
                                 "'{}' has no effect; leave it out",
                                 group.name, given));
}

void open_applications(system::System& system) {
  for (system::Group& group : system.groups) {
    if (group.application.empty()) continue;
    const application::Application application = application::read_application(group.application);
    if (application.crops) check_crops(group, *application.crops);
    group.model = application.model;
    group.precisions = application.precisions;
  }
}

}  // namespace

system::System open_system(const std::filesystem::path& path, const Context& context) {
  const auto* held_here =
      context.memory != nullptr ? held(context.memory->systems, path.string()) : nullptr;
  system::System system = held_here != nullptr ? *held_here : system::read_system(path);
  if (held_here != nullptr) check(system);
  open_applications(system);
  return system;
}

void refuse_what_is_for_admission(const system::System& system) {
  for (const system::Group& group : system.groups)
    if (!group.times.empty() || !group.after.empty() || group.end_to_end)
      throw InputError(
          group.place,
          fmt::format("group '{}' has '{}', which only 'millrace admit' reads; leave it "
                      "out",
                      group.name,
                      !group.times.empty()   ? "times"
                      : !group.after.empty() ? "after"
                                             : "end_to_end_ms"));
}

const network::Network& Networks::of(const formats::ModelSource& source) {
  for (const auto& [opened, network] : opened_)
    if (opened == source) return network;
  return opened_.emplace_back(source, open_model(source, context_)).second;
}

deployment::Deployment open_deployment(const std::filesystem::path& path, Networks& networks) {
  if (const auto& memory = networks.context().memory; memory != nullptr)
    if (const auto* deployment = held(memory->deployments, path.string())) return *deployment;
  deployment::Deployment result = deployment::read_deployment(path, networks.by_source());
  for (std::size_t g = 0; g < result.assignments.size(); ++g) {
    if (!result.system.groups[g].has_network()) continue;
    const plan::PlanFile& plan = result.assignments[g].plan;
    try {
      schedule::check_live(plan.plan, networks.of(plan.origin.model));
    } catch (const InputError& error) {
      throw InputError(path.string() + ": group '" + result.system.groups[g].name + "'",
                       error.what());
    }
  }
  open_applications(result.system);
  return result;
}

deployment::Deployment open_deployment_times(const std::filesystem::path& path) {
  return deployment::read_deployment(path, nullptr);
}

system::ScenarioId scenario_named(const system::System& system, const std::string& name) {
  std::vector<std::string_view> known;
  for (std::size_t s = 0; s < system.scenarios.size(); ++s) {
    if (system.scenarios[s].name == name) return system::ScenarioId(s);
    known.push_back(system.scenarios[s].name);
  }
  throw InputError("⟨scenario⟩", fmt::format("the system has no scenario '{}'{}", name,
                                             did_you_mean(name, known)));
}

void check_level(const system::System& system, std::int64_t level) {
  if (level >= 0 && level < system.levels) return;
  throw InputError(
      "⟨level⟩", fmt::format("found {}, the system has levels 0 to {}", level, system.levels - 1));
}

deployment::RecordedReleases recorded_releases(const std::string& file,
                                               const system::System& system,
                                               const Context& context) {
  if (file.empty()) return {};
  deployment::RecordedReleases recorded = deployment::read_recorded(file, system);
  for (const std::string& text : deployment::recorded_texts(system, recorded))
    context.note(text);
  return recorded;
}

board::Board board_of(const system::System& system, const Context& context) {
  Setup setup;
  setup.context = context;
  try {
    board::Board board = load_board(setup, system.board);
    // If the power is unknown, a lower clock saves nothing that anybody knows of.
    for (board::Device& device : board.devices)
      if (system.board.empty() && device.power.empty()) device.clocks.clear();
    return board;
  } catch (const InputError& error) {
    // A file that is wrong has its own place; a name that is no board has none.
    if (system.board_place.empty() || error.place() != system.board) throw;
    throw InputError(system.board_place, error.what());
  }
}

board::Board board_of(const deployment::Deployment& deployment, const Context& context) {
  board::Board board = board_of(deployment.system, context);
  const std::string& file = deployment.system.file;
  try {
    check(deployment, board);
  } catch (const InputError& error) {
    throw InputError(file, error.what());
  }
  const std::string other = another_board(deployment, board);
  if (!other.empty()) context.note(file + ": " + other);
  return board;
}

}  // namespace millrace::product
