#include "random_system.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

namespace millrace::realtime {
namespace {

constexpr std::size_t policies = 7;

class Maker {
 public:
  Maker(Random& random, const RandomSystemOptions& options) : random_(random), options_(options) {}

  TaskSystem make() {
    const std::size_t resources = 1 + random_.below(3), flows = 1 + random_.below(4);
    for (std::size_t r = 0; r < resources; ++r)
      system_.add_resource(
          {"r" + std::to_string(r),
           options_.policy.value_or(static_cast<SchedulingPolicy>(random_.below(policies)))});
    for (std::size_t f = 0; f < flows; ++f) add_flow(f);
    for (std::size_t r = 0; r < resources; ++r) load(ResourceId(r));
    if (options_.is_wild) add_offsets();
    return std::move(system_);
  }

 private:
  Time below(Time bound) {
    return bound <= Time{} ? Time{}
                           : Time(static_cast<std::int64_t>(
                                 random_.below(static_cast<std::uint64_t>(bound.count()))));
  }

  Time most_jitter(Time period) {
    if (!options_.is_wild) return period / 2;
    return random_.below(4) == 0 ? 2 * period : period;
  }

  void add_flow(std::size_t f) {
    constexpr std::array periods{20, 30, 40, 50, 60, 80, 100, 120, 150, 200};
    Flow flow{.name = "f" + std::to_string(f), .events = {}};
    flow.events.period = Time(periods[random_.below(periods.size())]) * 10;
    if (random_.below(2) == 0) {
      flow.events.jitter = below(most_jitter(flow.events.period));
      if (random_.below(2) == 0) flow.events.min_distance = below(flow.events.period / 2);
    }
    flow.events.sporadic = random_.below(4) == 0;
    flow.deadline = flow.events.period;
    const FlowId id = system_.add_flow(flow);
    const std::size_t resources = system_.resources.size();
    const std::size_t tasks = 1 + random_.below(options_.is_wild ? 4 : resources);
    const std::size_t first = random_.below(resources);
    const bool is_graph = tasks > 2 && random_.below(4) == 0;
    for (std::size_t t = 0; t < tasks; ++t) {
      Task task{.name = "t" + std::to_string(f) + "_" + std::to_string(t),
                .resource = ResourceId(options_.is_wild ? random_.below(resources)
                                                        : (first + t) % resources)};
      const auto& earlier = system_.flows[f].tasks;
      if (t > 0) task.after = {is_graph ? earlier[random_.below(t)] : earlier.back()};
      if (is_graph && t + 1 == tasks && task.after[0] != earlier[0])
        task.after.push_back(earlier[0]);
      task.priority = static_cast<std::int64_t>(random_.below(20));
      system_.add_task(id, task);
    }
  }

  std::vector<TaskId> tasks_on(ResourceId resource) const {
    std::vector<TaskId> found;
    for (std::size_t t = 0; t < system_.tasks.size(); ++t)
      if (system_.tasks[t].resource == resource) found.push_back(TaskId(t));
    return found;
  }

  Time period_of(TaskId task) const {
    for (const Flow& flow : system_.flows)
      if (std::find(flow.tasks.begin(), flow.tasks.end(), task) != flow.tasks.end())
        return flow.events.period;
    return {};
  }

  /// UUniFast (Bini and Buttazzo 2005).
  void load(ResourceId resource) {
    const auto tasks = tasks_on(resource);
    double left = options_.utilisation;
    for (std::size_t t = 0; t < tasks.size(); ++t) {
      const double rest =
          t + 1 == tasks.size()
              ? 0
              : left * std::pow(random_.unit(), 1.0 / static_cast<double>(tasks.size() - t - 1));
      const double period = static_cast<double>(period_of(tasks[t]).count());
      Task& task = system_.tasks[tasks[t].index];
      task.worst = std::max(Time{1}, Time(static_cast<std::int64_t>((left - rest) * period)));
      task.best = below(task.worst + Time{1});
      if (random_.below(3) == 0) task.best = task.worst;
      left = rest;
      split(resource, task);
    }
    if (system_[resource].policy == SchedulingPolicy::table) make_table(resource, tasks);
  }

  void split(ResourceId resource, Task& task) {
    const SchedulingPolicy policy = system_[resource].policy;
    if (policy != SchedulingPolicy::fifo_by_kernel &&
        policy != SchedulingPolicy::fixed_priority_nonpreemptive)
      return;
    const auto kernels = static_cast<std::int64_t>(1 + random_.below(5));
    if (task.worst < Time(kernels) || kernels == 1) return;
    Time left = task.worst;
    for (std::int64_t k = kernels; k > 1; --k) {
      const Time kernel = Time{1} + below((left - Time(k)) * 2 / k + Time{1});
      task.kernels.push_back(kernel);
      left -= kernel;
    }
    task.kernels.push_back(left);
  }

  void make_table(ResourceId resource, const std::vector<TaskId>& tasks) {
    Resource& table = system_.resources[resource.index];
    double sum = 0;
    for (TaskId task : tasks) sum += share(task);
    const double cycle = static_cast<double>(20 + random_.below(80));
    for (TaskId task : tasks)
      table.table.push_back(
          {task, Time(1 + static_cast<std::int64_t>(std::ceil(cycle * share(task) / sum)))});
    if (random_.below(3) == 0) table.table.push_back({{}, Time{1}});
  }

  double share(TaskId task) const {
    return static_cast<double>(system_[task].worst.count()) /
           static_cast<double>(period_of(task).count());
  }

  void add_offsets() {
    for (Flow& flow : system_.flows)
      for (TaskId task : flow.tasks)
        if (random_.below(8) == 0) system_.tasks[task.index].offset = below(flow.events.period / 2);
  }

  Random& random_;
  const RandomSystemOptions& options_;
  TaskSystem system_;
};

}  // namespace

TaskSystem random_system(Random& random, const RandomSystemOptions& options) {
  return Maker(random, options).make();
}

}  // namespace millrace::realtime
