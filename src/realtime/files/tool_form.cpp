#include <fmt/format.h>

#include <array>

#include "realtime/files/fields.h"

namespace millrace::realtime {
namespace {

struct SchedulerWord {
  std::string_view word;
  SchedulingPolicy policy;
};
constexpr std::array words{
    SchedulerWord{"SPP", SchedulingPolicy::fixed_priority},
    SchedulerWord{"SPNP", SchedulingPolicy::fixed_priority_nonpreemptive},
    SchedulerWord{"FIFO", SchedulingPolicy::fifo},
    SchedulerWord{"EDF", SchedulingPolicy::edf},
    SchedulerWord{"EDF-P", SchedulingPolicy::edf},
    SchedulerWord{"EDF-NP", SchedulingPolicy::edf_nonpreemptive},
    SchedulerWord{"fixed_priority_processor", SchedulingPolicy::fixed_priority},
    SchedulerWord{"fixed_priority_network", SchedulingPolicy::fixed_priority},
};

SchedulingPolicy scheduler_of(const YamlView& view) {
  const std::string name = view.scalar();
  for (const SchedulerWord& word : words)
    if (word.word == name) return word.policy;
  view.fail(
      fmt::format("found the scheduler '{}', which has no exact counterpart; expected SPP, "
                  "SPNP, FIFO, EDF-P, EDF-NP or a fixed_priority_processor",
                  name));
}

class ToolForm {
 public:
  explicit ToolForm(const TimeUnit& unit) : unit_(unit) {}

  TaskSystem read(const YamlView& root) {
    if (root.has("scheduler")) return read_one_resource(root);
    for (const YamlView& view : root.at("resources").items()) {
      const char* key = view.has("scheduler") ? "scheduler" : "type";
      system_.add_resource({view.at("name").scalar(), scheduler_of(view.at(key))});
    }
    for (const YamlView& view : root.at("flows").items()) add_flow(view);
    return std::move(system_);
  }

 private:
  /// A list of independent tasks; a lower number is a higher priority.
  TaskSystem read_one_resource(const YamlView& root) {
    const ResourceId resource =
        system_.add_resource({"resource", scheduler_of(root.at("scheduler"))});
    for (const YamlView& view : root.at("tasks").items()) {
      Task task = task_of(view, "name", resource);
      task.priority = -task.priority;
      system_.add_task(system_.add_flow(flow_of(view)), std::move(task));
    }
    return std::move(system_);
  }

  Flow flow_of(const YamlView& view) const {
    Flow flow{.name = view.at("name").scalar(), .events = {}};
    flow.events.period = time_of(view.at("period"), unit_);
    flow.events.jitter = time_at(view, "jitter", unit_).value_or(Time{});
    flow.events.min_distance = time_at(view, "dmin", unit_).value_or(Time{});
    check_distance(view, "dmin", flow.events, unit_);
    flow.events.sporadic = view.has("arrival") && view.at("arrival").scalar() == "sporadic";
    flow.deadline = time_at(view, "deadline", unit_);
    return flow;
  }

  Task task_of(const YamlView& view, const char* name, ResourceId resource) const {
    Task task{.name = view.at(name).scalar(), .resource = resource};
    task.worst = time_of(view.at("wcet"), unit_);
    task.best = time_at(view, "bcet", unit_).value_or(Time{});
    check_best(view, "bcet", task, unit_);
    if (view.has("priority")) task.priority = view.at("priority").integer();
    task.blocking = time_at(view, "blocking", unit_).value_or(Time{});
    return task;
  }

  void add_flow(const YamlView& view) {
    Flow flow = flow_of(view);
    flow.deadline_from_due = true;
    if (view.has("timing_requirements"))
      for (const YamlView& wish : view.at("timing_requirements").items())
        flow.deadline = read_deadline(wish, view);
    const FlowId id = system_.add_flow(std::move(flow));
    for (const YamlView& step : view.at("steps").items()) {
      Task task = task_of(step, "task", resource_named(system_, step.at("resource")));
      make_unique(task);
      const auto& earlier = system_[id].tasks;
      if (!earlier.empty()) task.after = {earlier.back()};
      system_.add_task(id, std::move(task));
    }
  }

  /// In MAST several flows may use an operation of one name.
  void make_unique(Task& task) const {
    const std::string name = task.name;
    const auto is_taken = [&] {
      for (const Task& other : system_.tasks)
        if (other.name == task.name) return true;
      return false;
    };
    for (int n = 2; is_taken(); ++n) task.name = fmt::format("{}#{}", name, n);
  }

  Time read_deadline(const YamlView& wish, const YamlView& flow) const {
    if (wish.at("type").scalar() != "hard_global_deadline")
      wish.at("type").fail("only a hard_global_deadline has an exact counterpart");
    const auto steps = flow.at("steps").items();
    if (wish.at("event").scalar() != steps.back().at("out_event").scalar())
      wish.at("event").fail("only a deadline of the flow's last step has an exact counterpart");
    return time_of(wish.at("deadline"), unit_);
  }

  const TimeUnit& unit_;
  TaskSystem system_;
};

}  // namespace

TaskSystem read_tool_form(const YamlView& root, const TimeUnit& unit) {
  return ToolForm(unit).read(root);
}

}  // namespace millrace::realtime
