#include "deployment/plan_tasks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>

#include "base/error.h"

namespace millrace::deployment {
namespace {

constexpr const char* remedy = "deploy the system again";

class PlanTasks {
 public:
  PlanTasks(const system::Group& group, const Assignment& assignment, const PlanShape& shape)
      : group_(group), tasks_(assignment.tasks), shape_(shape) {}

  void check() {
    find_phases();
    pre_ = step(Step::preprocess, group_.preprocess, "preprocess_ms");
    post_ = step(Step::postprocess, group_.postprocess, "postprocess_ms");
    for (std::size_t s = 0; s < shape_.stages.size(); ++s)
      for (std::size_t p = 0; p < shape_.stages[s].phases; ++p) check_phase(s, p);
    for (const auto& [from, to] : shape_.reads) needed_[of(to)].push_back(of(from));
    for (const auto& [task, before] : needed_) check_order(task, before);
  }

 private:
  [[noreturn]] void fail(const Task& task, const std::string& text) const {
    throw InputError(fmt::format("group '{}', task '{}'", group_.name, task.name),
                     fmt::format("{}; {}", text, remedy));
  }
  [[noreturn]] void fail(const std::string& text) const {
    throw InputError(fmt::format("group '{}'", group_.name), fmt::format("{}; {}", text, remedy));
  }

  std::size_t of(const plan::Endpoint& at) const { return phases_.at({at.stage, at.phase}); }

  void find_phases() {
    for (std::size_t t = 0; t < tasks_.size(); ++t) {
      const Task& task = tasks_[t];
      if (task.step != Step::phase) continue;
      if (task.stage >= shape_.stages.size() || task.phase >= shape_.stages[task.stage].phases)
        fail(task, fmt::format("its plan has no phase {} of stage {}", task.phase, task.stage));
      if (!phases_.emplace(std::pair(task.stage, task.phase), t).second)
        fail(task, fmt::format("another task runs phase {} of '{}' too", task.phase,
                               shape_.stages[task.stage].name));
    }
  }

  /// The task of this step; nothing if the system has no such step.
  std::optional<std::size_t> step(Step step, const std::optional<Time>& given,
                                  const char* key) const {
    const bool is_wanted = given.value_or(Time{}) > Time{};
    std::optional<std::size_t> found;
    for (std::size_t t = 0; t < tasks_.size(); ++t) {
      if (tasks_[t].step != step) continue;
      if (found) fail(tasks_[t], "another task is the same step");
      found = t;
    }
    if (found && !is_wanted) fail(tasks_[*found], fmt::format("its system has no {}", key));
    if (!found && is_wanted) fail(fmt::format("its system has {}, and no task takes it", key));
    return found;
  }

  void check_phase(std::size_t stage, std::size_t phase) {
    const PlanShape::Stage& of = shape_.stages[stage];
    const auto found = phases_.find({stage, phase});
    if (found == phases_.end())
      fail(fmt::format("no task runs phase {} of '{}' of its plan", phase, of.name));
    const Task& task = tasks_[found->second];
    if (std::ranges::find(of.processors, task.processor) == of.processors.end())
      fail(task, fmt::format("found the processor '{}', its plan has '{}' on {}", task.processor,
                             of.name, fmt::join(of.processors, ", ")));
    if (phase > 0) needed_[found->second].push_back(phases_.at({stage, phase - 1}));
    if (pre_) needed_[found->second].push_back(*pre_);
    if (post_) needed_[*post_].push_back(found->second);
  }

  /// Also through others.
  void check_order(std::size_t task, const std::vector<std::size_t>& before) const {
    std::vector<bool> is_before(tasks_.size(), false);
    std::vector<std::size_t> open{task};
    while (!open.empty()) {
      const std::size_t next = open.back();
      open.pop_back();
      for (const std::size_t earlier : tasks_[next].after) {
        if (is_before[earlier]) continue;
        is_before[earlier] = true;
        open.push_back(earlier);
      }
    }
    for (const std::size_t each : before)
      if (!is_before[each])
        fail(tasks_[task],
             fmt::format("it does not come after '{}', for which it waits", tasks_[each].name));
  }

  const system::Group& group_;
  const std::vector<Task>& tasks_;
  const PlanShape& shape_;
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> phases_;  // the task of each
  std::optional<std::size_t> pre_, post_;
  std::map<std::size_t, std::vector<std::size_t>> needed_;  // by task: those that end first
};

PlanShape::Stage read_stage(const JsonView& json) {
  PlanShape::Stage stage{json.at("name").text(), {}, json.at("phases").items().size()};
  if (!json.has("processors")) {
    stage.processors.push_back(json.at("processor").at("name").text());
    return stage;
  }
  for (const JsonView& processor : json.at("processors").items())
    stage.processors.push_back(processor.at("name").text());
  return stage;
}

/// None: outside.
plan::Endpoint read_end(const JsonView& json, const PlanShape& shape) {
  if (json.is_text()) return {};
  const JsonView name = json.at("stage");
  const auto found = std::ranges::find(shape.stages, name.text(), &PlanShape::Stage::name);
  if (found == shape.stages.end()) name.fail(fmt::format("there is no stage '{}'", name.text()));
  return {static_cast<std::size_t>(found - shape.stages.begin()),
          json.at("phase").index(found->phases)};
}

void add_read(PlanShape& shape, const plan::Endpoint& from, const plan::Endpoint& to) {
  if (!from.is_outside() && !to.is_outside()) shape.reads.emplace_back(from, to);
}

}  // namespace

PlanShape shape_of(const plan::Plan& plan) {
  PlanShape shape;
  for (const plan::Stage& stage : plan.stages) {
    PlanShape::Stage& added =
        shape.stages.emplace_back(PlanShape::Stage{stage.name, {}, stage.phases.size()});
    for (const board::Processor& processor : stage.processors)
      added.processors.push_back(processor.name);
  }
  for (const plan::Channel& channel : plan.channels) add_read(shape, channel.from, channel.to);
  return shape;
}

PlanShape read_shape(const JsonView& plan) {
  PlanShape shape;
  for (const JsonView& stage : plan.at("stages").items()) shape.stages.push_back(read_stage(stage));
  for (const JsonView& channel : plan.at("channels").items())
    add_read(shape, read_end(channel.at("from"), shape), read_end(channel.at("to"), shape));
  return shape;
}

void check_plan_tasks(const system::Group& group, const Assignment& assignment,
                      const PlanShape& shape) {
  PlanTasks(group, assignment, shape).check();
}

}  // namespace millrace::deployment
