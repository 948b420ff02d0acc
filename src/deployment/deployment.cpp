#include "deployment/deployment.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/error.h"
#include "deployment/events.h"
#include "deployment/plan_tasks.h"
#include "deployment/script.h"
#include "deployment/words.h"

namespace millrace::deployment {
namespace {

std::string place_of(const Deployment& deployment, std::size_t group, const Task& task) {
  return fmt::format("group '{}', task '{}'", deployment.system.groups[group].name, task.name);
}

void check_times(const Task& task, const std::string& place) {
  if (task.worst < task.average || task.average < task.best || task.best < Time{})
    throw InputError(place,
                     fmt::format("its times are {} at best, {} on average and {} at worst, "
                                 "expected them ascending",
                                 millrace::to_text(task.best), millrace::to_text(task.average),
                                 millrace::to_text(task.worst)));
  Time sum{};
  for (Time kernel : task.kernels)
    if (sum <= task.worst) sum += kernel;
  if (!task.kernels.empty() && sum != task.worst)
    throw InputError(place,
                     fmt::format("its kernels take {} together and its worst time is {}, expected "
                                 "the same",
                                 millrace::to_text(sum), millrace::to_text(task.worst)));
}

void check_task(const Assignment& assignment, const Task& task, const std::string& place) {
  check_times(task, place);
  for (const Task& other : assignment.tasks)
    if (&other != &task && other.name == task.name)
      throw InputError(place, "another task of the group has this name; give it another");
  for (std::size_t before : task.after)
    if (before >= assignment.tasks.size() || &assignment.tasks[before] >= &task)
      throw InputError(place, "it comes after a task that does not stand before it");
}

void check_bounds(const Deployment& deployment, const Setting& setting, const std::string& place) {
  const system::System& system = deployment.system;
  const auto& active = system[setting.scenario].groups;
  if (setting.bounds.size() > system.groups.size())
    throw InputError(place, "has bounds of more groups than there are");
  for (std::size_t g = 0; g < setting.bounds.size(); ++g)
    if (setting.bounds[g] && std::ranges::find(active, system::GroupId(g)) == active.end())
      throw InputError(place, fmt::format("has a bound of group '{}', which is not active in it",
                                          system.groups[g].name));
}

void check_setting(const Deployment& deployment, const Setting& setting) {
  const system::System& system = deployment.system;
  if (setting.scenario.index >= system.scenarios.size())
    throw InputError("setting", "has a scenario that is not there");
  const std::string place = fmt::format("setting of scenario '{}', level {}",
                                        system[setting.scenario].name, setting.level);
  if (setting.level < 0 || setting.level >= system.levels)
    throw InputError(place, fmt::format("the system has levels 0 to {}", system.levels - 1));
  for (const Setting& other : deployment.settings)
    if (&other != &setting && other.scenario == setting.scenario && other.level == setting.level)
      throw InputError(place, "it is there twice; remove one");
  check_bounds(deployment, setting, place);
}

void check_clocks(const Setting& setting, const board::Board& board, const std::string& place) {
  for (const auto& [name, clock] : setting.clocks) {
    const auto device = std::ranges::find(board.devices, name, &board::Device::name);
    if (device == board.devices.end())
      throw InputError(place, fmt::format("the board '{}' has no device '{}'", board.name, name));
    if (std::ranges::find(device->clocks, clock) == device->clocks.end())
      throw InputError(place,
                       fmt::format("the device '{}' of the board '{}' has no clock of {} MHz", name,
                                   board.name, clock.value));
  }
}

bool is_beside_network(const Task& task) {
  return task.step == Step::preprocess || task.step == Step::postprocess;
}

void check_processor(const Task& task, const board::Board& board, const std::string& place) {
  const auto found = std::ranges::find(board.processors, task.processor, &board::Processor::name);
  if (found == board.processors.end())
    throw InputError(
        place, fmt::format("the board '{}' has no processor '{}'", board.name, task.processor));
  if (is_beside_network(task) && found->kind != board::ProcessorKind::cpu)
    throw InputError(place,
                     fmt::format("runs on '{}', which is no core; pre- and post-processing need "
                                 "a core of the board",
                                 task.processor));
}

void check_room(std::size_t subnets, const std::optional<int>& limit, const std::string& place) {
  if (limit && subnets > static_cast<std::size_t>(*limit))
    throw InputError(place,
                     fmt::format("has {} subnets of all groups, and the board allows {}; move some "
                                 "to another processor",
                                 subnets, *limit));
}

/// All groups are loaded at once, whichever scenario is active.
void check_rooms(const Deployment& deployment, const board::Board& board) {
  std::map<std::string, std::size_t> subnets;  // by processor
  for (const Assignment& assignment : deployment.assignments)
    for (const Task& task : assignment.tasks)
      if (task.step == Step::phase) ++subnets[task.processor];
  for (const board::Device& device : board.devices) {
    std::size_t together = 0;
    for (const std::string& processor : device.processors) {
      const auto found = subnets.find(processor);
      if (found == subnets.end()) continue;
      check_room(found->second, device.limits.subnets, fmt::format("processor '{}'", processor));
      together += found->second;
    }
    check_room(together, device.limits.subnets_together, fmt::format("device '{}'", device.name));
  }
}

}  // namespace

bool frames_may_overlap(const system::System& system, system::GroupId group) {
  for (std::int64_t level = 0; level < system.levels; ++level)
    if (frames_within_deadline(system, group, level) > 1) return true;
  return false;
}

/// Frames that may be on their way at once must find space, or a stage waits for the next one, for
/// which no bound counts.
void check_space(const Deployment& deployment, std::size_t group) {
  const std::int64_t most = most_on_the_way(deployment.system, system::GroupId(group));
  for (const plan::Channel& channel : deployment.assignments[group].plan.plan.channels)
    if (channel.capacity < most)
      throw InputError(
          fmt::format("group '{}'", deployment.system.groups[group].name),
          fmt::format(
              "its deadline lets {} frames be on their way, and a channel of its plan holds "
              "{}; shorten the deadline to {} periods at most",
              most, channel.capacity, channel.capacity));
}

void make_space(Deployment& deployment) {
  constexpr std::int64_t most_frames = 1000;
  for (std::size_t g = 0; g < deployment.assignments.size(); ++g) {
    const std::int64_t most = most_on_the_way(deployment.system, system::GroupId(g));
    for (plan::Channel& channel : deployment.assignments[g].plan.plan.channels)
      channel.capacity = std::max(channel.capacity, std::min(most, most_frames));
  }
}

bool has_stage_of_several_phases(const Assignment& assignment) {
  return std::ranges::any_of(assignment.tasks, [](const Task& task) {
    return task.step == Step::phase && task.phase > 0;
  });
}

void check(const Deployment& deployment) {
  const auto& groups = deployment.system.groups;
  if (deployment.assignments.size() > groups.size())
    throw InputError(deployment.system.file, "has more assignments than groups");
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (g >= deployment.assignments.size())
      throw InputError(deployment.system.file,
                       fmt::format("group '{}' has no assignment", groups[g].name));
    const Assignment& assignment = deployment.assignments[g];
    if (assignment.tasks.empty())
      throw InputError(fmt::format("group '{}'", groups[g].name), "it has no tasks");
    for (const Task& task : assignment.tasks) {
      check_task(assignment, task, place_of(deployment, g, task));
      if (task.step == Step::task && task.node >= groups[g].graph.tasks.size())
        throw InputError(place_of(deployment, g, task), "the group's graph has no such task");
    }
    if (const plan::Plan& plan = assignment.plan.plan; !plan.stages.empty())
      check_plan_tasks(groups[g], assignment, shape_of(plan));
    check_space(deployment, g);
    if (frames_may_overlap(deployment.system, system::GroupId(g)) &&
        has_stage_of_several_phases(assignment))
      throw InputError(
          fmt::format("group '{}'", groups[g].name),
          fmt::format(
              "its deadline is longer than {}, and a stage of its plan has several "
              "phases, so that a frame may wait for the one before it; shorten the "
              "deadline, or use a plan whose stages have one phase each",
              groups[g].events.is_periodic() ? "its period" : "the least time between two frames"));
  }
  for (const Setting& setting : deployment.settings) check_setting(deployment, setting);
}

void check(const Deployment& deployment, const board::Board& board) {
  check(deployment);
  for (std::size_t g = 0; g < deployment.assignments.size(); ++g)
    for (const Task& task : deployment.assignments[g].tasks)
      check_processor(task, board, place_of(deployment, g, task));
  check_rooms(deployment, board);
  for (const Setting& setting : deployment.settings)
    check_clocks(setting, board,
                 fmt::format("setting of scenario '{}', level {}",
                             deployment.system[setting.scenario].name, setting.level));
}

std::string another_board(const Deployment& deployment, const board::Board& board) {
  const std::string hash = board::hash_of(board);
  if (deployment.board_hash.empty() || deployment.board_hash == hash) return "";
  return fmt::format(
      "the deployment was made for the board '{}' (hash {}), and the board is '{}' (hash {}) now; "
      "its times may not hold",
      deployment.board_name, deployment.board_hash, board.name, hash);
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

const char* to_text(Contention contention) { return word_of(contention_words, contention).data(); }

}  // namespace millrace::deployment
