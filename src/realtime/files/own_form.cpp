#include <fmt/format.h>

#include <array>
#include <set>

#include "base/file.h"
#include "realtime/files/fields.h"

namespace millrace::realtime {
namespace {

SchedulingPolicy policy_of(const YamlView& view) {
  const std::string name = view.scalar();
  std::vector<std::string_view> names;
  for (SchedulingPolicy policy : all_policies) {
    if (name == to_text(policy)) return policy;
    names.push_back(to_text(policy));
  }
  std::string all;
  for (std::string_view one : names) all += fmt::format("{}{}", all.empty() ? "" : ", ", one);
  view.fail(fmt::format("found the policy '{}', expected one of {}{}", name, all,
                        did_you_mean(name, names)));
}

template <class Names>
void check_new(Names& names, const YamlView& view, const char* what) {
  if (!names.insert(view.scalar()).second)
    view.fail(fmt::format("the {} '{}' is there twice", what, view.scalar()));
}

class OwnForm {
 public:
  explicit OwnForm(const TimeUnit& unit) : unit_(unit) {}

  TaskSystem read(const YamlView& root) {
    constexpr std::array<std::string_view, 5> known{"format", "kind", "unit", "resources", "flows"};
    root.only(known);
    for (const YamlView& view : root.at("resources").items()) add_resource(view);
    for (const YamlView& view : root.at("flows").items()) add_flow(view);
    std::size_t r = 0;
    for (const YamlView& view : root.at("resources").items()) add_table(view, ResourceId(r++));
    return std::move(system_);
  }

 private:
  Time time_or_zero(const YamlView& view, std::string_view key) const {
    return time_at(view, key, unit_).value_or(Time{});
  }

  void add_resource(const YamlView& view) {
    constexpr std::array<std::string_view, 3> known{"name", "policy", "table"};
    view.only(known);
    check_new(resources_, view.at("name"), "resource");
    system_.add_resource({view.at("name").scalar(), policy_of(view.at("policy"))});
  }

  void add_table(const YamlView& view, ResourceId id) {
    if (!view.has("table")) return;
    constexpr std::array<std::string_view, 2> known{"task", "length"};
    for (const YamlView& slot : view.at("table").items()) {
      slot.only(known);
      const TaskId task = slot.has("task") ? task_named(system_, slot.at("task")) : TaskId{};
      system_.resources[id.index].table.push_back({task, time_of(slot.at("length"), unit_)});
    }
  }

  void add_flow(const YamlView& view) {
    constexpr std::array<std::string_view, 11> known{
        "name",           "period",   "jitter",        "min_distance", "sporadic", "burst",
        "burst_distance", "deadline", "deadline_from", "limit",        "tasks"};
    view.only(known);
    check_new(flows_, view.at("name"), "flow");
    Flow flow{.name = view.at("name").scalar(), .events = {}};
    flow.events.period = time_of(view.at("period"), unit_);
    flow.events.jitter = time_or_zero(view, "jitter");
    flow.events.min_distance = time_or_zero(view, "min_distance");
    flow.events.sporadic = view.has("sporadic") && view.at("sporadic").boolean();
    if (view.has("burst")) flow.events.burst = view.at("burst").integer();
    flow.events.burst_distance = time_or_zero(view, "burst_distance");
    check_distance(view, "min_distance", flow.events, unit_);
    flow.deadline = time_at(view, "deadline", unit_);
    if (view.has("deadline_from")) flow.deadline_from_due = is_from_due(view.at("deadline_from"));
    if (view.has("limit")) flow.limit = limit_of(view.at("limit"));
    const FlowId id = system_.add_flow(std::move(flow));
    for (const YamlView& task : view.at("tasks").items()) add_task(task, id);
  }

  ActivationLimit limit_of(const YamlView& view) const {
    constexpr std::array<std::string_view, 2> known{"events", "every"};
    view.only(known);
    return {view.at("events").integer(), time_of(view.at("every"), unit_)};
  }

  static bool is_from_due(const YamlView& view) {
    const std::string text = view.scalar();
    if (text != "due" && text != "activation")
      view.fail(fmt::format("found '{}', expected 'activation' or 'due'", text));
    return text == "due";
  }

  void add_task(const YamlView& view, FlowId flow) {
    constexpr std::array<std::string_view, 10> known{"name",     "resource", "worst",  "best",
                                                     "priority", "blocking", "offset", "deadline",
                                                     "kernels",  "after"};
    view.only(known);
    check_new(tasks_, view.at("name"), "task");
    Task task{.name = view.at("name").scalar(),
              .resource = resource_named(system_, view.at("resource"))};
    read_times(view, task);
    if (view.has("priority")) task.priority = view.at("priority").integer();
    task.blocking = time_or_zero(view, "blocking");
    task.offset = time_or_zero(view, "offset");
    task.deadline = time_at(view, "deadline", unit_);
    const auto& earlier = system_[flow].tasks;
    if (view.has("after"))
      for (const YamlView& first : view.at("after").items())
        task.after.push_back(task_named(system_, first));
    else if (!earlier.empty())
      task.after = {earlier.back()};
    system_.add_task(flow, std::move(task));
  }

  void read_times(const YamlView& view, Task& task) const {
    if (view.has("kernels")) {
      for (const YamlView& kernel : view.at("kernels").items()) {
        task.kernels.push_back(time_of(kernel, unit_));
        task.worst += task.kernels.back();
      }
      if (view.has("worst") && time_of(view.at("worst"), unit_) != task.worst)
        view.at("worst").fail("it is not the sum of the kernels; leave it out");
    } else {
      task.worst = time_of(view.at("worst"), unit_);
    }
    task.best = view.has("best") ? time_of(view.at("best"), unit_) : task.worst;
    check_best(view, "best", task, unit_);
  }

  const TimeUnit& unit_;
  TaskSystem system_;
  std::set<std::string> resources_, flows_, tasks_;
};

}  // namespace

TaskSystem read_own_form(const YamlView& root, const TimeUnit& unit) {
  return OwnForm(unit).read(root);
}

}  // namespace millrace::realtime
