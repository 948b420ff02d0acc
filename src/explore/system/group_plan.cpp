#include "explore/system/group_plan.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "board/power.h"
#include "explore/candidates.h"
#include "plan/steps.h"

namespace millrace::explore {
namespace {

using deployment::Step;

Time longer(Time time, double factor) {
  return Time(std::llround(static_cast<double>(time.count()) * factor));
}

/// A core that is not one that the network may use, if there is one.
const board::Processor* core_for_processing(const GroupModel& model) {
  const board::Processor* found = nullptr;
  for (const board::Processor& processor : model.board.processors) {
    if (processor.kind != board::ProcessorKind::cpu) continue;
    const bool is_free = std::ranges::none_of(
        model.context.board.processors, [&](const auto& other) { return other == processor; });
    if (is_free) return &processor;
    if (found == nullptr) found = &processor;
  }
  return found;
}

deployment::Task processing_task(const GroupModel& model, Step step, Time worst) {
  deployment::Task task;
  task.name = step == Step::preprocess ? "pre" : "post";
  task.step = step;
  task.processor = core_for_processing(model)->name;
  task.worst = worst;
  task.average = longer(worst, 1 / (1 + 6 * modelled_deviation));
  task.best = longer(task.average, 1 - 6 * modelled_deviation);
  return task;
}

/// A phase's fused groups, in nanoseconds, and before them what passing tensors on takes.
std::vector<double> pieces_of(const Problem& problem, const plan::Phase& phase,
                              std::size_t processor, Time whole) {
  std::map<std::size_t, double> groups;
  for (const LayerId layer : phase.layers) {
    const std::size_t leader = problem.fused_into[layer.index].value_or(layer.index);
    const bool together = std::ranges::binary_search(phase.layers, LayerId(leader));
    const auto& times = together ? problem.time : problem.alone;
    groups[together ? leader : layer.index] += times[layer.index][processor];
  }
  std::vector<double> pieces{static_cast<double>(whole.count())};
  for (const auto& [leader, time] : groups) {
    if (time <= 0) continue;
    pieces.push_back(time);
    pieces.front() -= time;
  }
  if (pieces.front() < 1) pieces.erase(pieces.begin());
  return pieces;
}

struct PhaseAt {
  std::size_t stage = 0, phase = 0;
  LayerId first;
};

/// Whether it reads a tensor of the other, or stands after it on its stage.
bool waits_for(const plan::Plan& plan, const PhaseAt& phase, const PhaseAt& before) {
  if (phase.stage == before.stage) return phase.phase > before.phase;
  const plan::Endpoint from{before.stage, before.phase}, to{phase.stage, phase.phase};
  return std::ranges::any_of(plan.channels, [&](const plan::Channel& channel) {
    return channel.from == from && channel.to == to;
  });
}

/// Each after those that it waits for: one may have a later first layer, on another branch.
std::vector<PhaseAt> phases_in_order(const plan::Plan& plan) {
  std::vector<PhaseAt> open, result;
  for (std::size_t s = 0; s < plan.stages.size(); ++s)
    for (std::size_t p = 0; p < plan.stages[s].phases.size(); ++p)
      open.push_back({s, p, plan.stages[s].phases[p].layers.front()});
  std::ranges::sort(open, {}, &PhaseAt::first);
  while (!open.empty()) {
    const auto next = std::ranges::find_if(open, [&](const PhaseAt& phase) {
      return std::ranges::none_of(
          open, [&](const PhaseAt& other) { return waits_for(plan, phase, other); });
    });
    result.push_back(*next);
    open.erase(next);
  }
  return result;
}

/// Average and worst phase times of a realised plan.
struct PhaseTimesOf {
  const GroupModel& model;
  const plan::Plan& plan;
  plan::Evidence average, worst;

  static PhaseTimesOf make(const GroupModel& model, const Realised& realised,
                           const Configuration& configuration) {
    PhaseTimesOf result{model, realised.plan, realised.evidence, realised.evidence};
    if (model.worst == nullptr) return result;
    SearchCase given = search_case_of(model.context, configuration);
    given.problem = *model.worst;
    result.worst = predicted(realised.plan, mapping_of(model.context, configuration), given);
    return result;
  }

  deployment::Task task(const PhaseAt& at) const {
    const plan::Stage& stage = plan.stages[at.stage];
    deployment::Task task;
    task.name = "stage" + std::to_string(at.stage);
    if (at.phase > 0) task.name += "." + std::to_string(at.phase);
    task.stage = at.stage;
    task.phase = at.phase;
    task.processor = stage.processors.front().name;
    task.average = *average.replicas[at.stage].phases[at.phase];
    const board::Device* device = device_of(model.board, stage.processors.front());
    const bool by_kernel =
        device != nullptr && device->scheduling == board::Scheduling::fifo_by_kernel;
    set_extremes(task, by_kernel, model.worst == nullptr ? 6 * model.deviation : 0);
    return task;
  }

 private:
  /// Pieces vary by `spread` of their times, independently of each other: those that are measured
  /// one by one as kernels, all of a subnet less than their sum.
  void set_extremes(deployment::Task& task, bool by_kernel, double spread) const {
    const plan::Stage& stage = plan.stages[task.stage];
    const Time whole = *worst.replicas[task.stage].phases[task.phase];
    const std::vector<double> pieces =
        pieces_of(model.worst == nullptr ? model.context.problem : *model.worst,
                  stage.phases[task.phase], processor_of(stage), whole);
    double squares = 0;
    for (const double piece : pieces) squares += piece * piece;
    const double varies = spread * std::sqrt(squares);
    task.best = std::max(Time{}, task.average - Time(std::llround(varies)));
    task.worst = std::max(task.average, whole + Time(std::llround(varies)));
    if (!by_kernel) return;
    task.worst = {};
    for (const double piece : pieces) {
      task.kernels.emplace_back(std::llround(piece * (1 + spread)));
      task.worst += task.kernels.back();
    }
    if (task.worst < task.average) {  // rounded
      task.kernels.front() += task.average - task.worst;
      task.worst = task.average;
    }
  }

  std::size_t processor_of(const plan::Stage& stage) const {
    const auto& all = model.context.board.processors;
    return static_cast<std::size_t>(std::ranges::find(all, stage.processors.front()) - all.begin());
  }
};

std::vector<std::size_t> tasks_before(const plan::Plan& plan, const std::vector<PhaseAt>& order,
                                      std::size_t index) {
  std::vector<std::size_t> result;
  for (std::size_t before = 0; before < index; ++before)
    if (waits_for(plan, order[index], order[before])) result.push_back(before);
  return result;
}

/// The tasks that no other comes after.
std::vector<std::size_t> last_tasks(const std::vector<deployment::Task>& tasks) {
  std::vector<std::size_t> result;
  for (std::size_t t = 0; t < tasks.size(); ++t)
    if (std::ranges::none_of(tasks, [&](const deployment::Task& other) {
          return std::ranges::count(other.after, t) > 0;
        }))
      result.push_back(t);
  return result;
}

std::vector<deployment::Task> tasks_of(const PhaseTimesOf& times) {
  const GroupModel& model = times.model;
  std::vector<deployment::Task> tasks;
  const std::size_t shift = model.preprocess > Time{} ? 1 : 0;
  if (shift > 0) tasks.push_back(processing_task(model, Step::preprocess, model.preprocess));
  const std::vector<PhaseAt> order = phases_in_order(times.plan);
  for (std::size_t i = 0; i < order.size(); ++i) {
    tasks.push_back(times.task(order[i]));
    for (const std::size_t before : tasks_before(times.plan, order, i))
      tasks.back().after.push_back(before + shift);
    if (tasks.back().after.empty() && shift > 0) tasks.back().after = {0};
  }
  if (model.postprocess > Time{}) {
    deployment::Task post = processing_task(model, Step::postprocess, model.postprocess);
    post.after = last_tasks(tasks);
    tasks.push_back(std::move(post));
  }
  return tasks;
}

/// Times of the network's tasks, on each of the device's processors it may use; the longest first.
std::vector<double> times_on(const GroupModel& model, const GroupPlan& plan,
                             const board::Device& device) {
  std::vector<double> times;
  for (const board::Processor& processor : model.context.board.processors) {
    if (device_of(model.board, processor) != &device) continue;
    double& time = times.emplace_back(0);
    for (const deployment::Task& task : plan.assignment.tasks)
      if (task.step == Step::phase && task.processor == processor.name)
        time += milliseconds(task.average);
  }
  std::ranges::sort(times, std::greater{});
  return times;
}

double mean_power(const GroupModel& model, const board::Device& device, Time busy) {
  return board::dynamic_energy(device, board::highest_clock(device), busy) /
         (seconds(model.period) * 1e3);
}

std::vector<double> power_of_devices(const GroupModel& model, const GroupPlan& plan) {
  const board::Board& board = model.board;
  std::vector<double> result(board.devices.size(), 0);
  for (const deployment::Task& task : plan.assignment.tasks) {
    const auto at = std::ranges::find(board.processors, task.processor, &board::Processor::name);
    const board::Device* device = device_of(board, *at);
    if (device == nullptr) continue;
    result[static_cast<std::size_t>(device - board.devices.data())] +=
        mean_power(model, *device, task.average);
  }
  return result;
}

std::vector<double> power_of_busiest(const GroupModel& model, const GroupPlan& plan) {
  std::vector<double> result;
  for (const board::Device& device : model.board.devices) {
    const std::vector<double> times = times_on(model, plan, device);
    result.push_back(
        times.size() < 2 ? 0 : mean_power(model, device, Time(std::llround(times.front() * 1e6))));
  }
  return result;
}

std::vector<double> times_on_accelerators(const GroupModel& model, const GroupPlan& plan) {
  std::vector<double> result;
  for (const board::Device& device : model.board.devices) {
    const std::vector<double> times = times_on(model, plan, device);
    if (device.kind != board::ProcessorKind::cpu)
      result.insert(result.end(), times.begin(), times.end());
    else if (times.size() > 1)
      result.insert(result.end(),
                    {std::accumulate(times.begin(), times.end(), 0.0), times.front()});
  }
  return result;
}

}  // namespace

plan::BuildOptions build_options_under_deadlines() {
  plan::BuildOptions options;
  options.most_offset = 0;
  options.transfers = false;  // response times know no resource for them
  return options;
}

std::optional<GroupPlan> group_plan(const GroupModel& model, const Configuration& configuration) {
  const Realised realised = realise(model.context, configuration);
  if (!realised.verdict) return std::nullopt;
  GroupPlan result;
  result.configuration = configuration;
  result.assignment.tasks = tasks_of(PhaseTimesOf::make(model, realised, configuration));
  for (const deployment::Task& task : result.assignment.tasks) result.latency += task.average;
  result.power_mw = power_of_devices(model, result);
  result.busiest_mw = power_of_busiest(model, result);
  if (model.by_accelerator_times) result.accelerator_ms = times_on_accelerators(model, result);
  return result;
}

std::vector<double> objectives_of(const GroupPlan& plan) {
  std::vector<double> result{milliseconds(plan.latency)};
  if (!plan.accelerator_ms.empty()) {
    result.insert(result.end(), plan.accelerator_ms.begin(), plan.accelerator_ms.end());
    return result;
  }
  result.insert(result.end(), plan.power_mw.begin(), plan.power_mw.end());
  result.insert(result.end(), plan.busiest_mw.begin(), plan.busiest_mw.end());
  return result;
}

}  // namespace millrace::explore
