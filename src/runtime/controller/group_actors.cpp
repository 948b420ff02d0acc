// The threads of a group, and what each of them does in a frame.
#include <fmt/format.h>

#include <algorithm>

#include "runtime/controller/group_runner.h"
#include "runtime/scheduling/thread_priority.h"
#include "system/task_edges.h"

namespace millrace::runtime {
namespace {

using Inputs = std::span<const std::span<std::byte>>;
using Outputs = std::span<const std::span<const std::byte>>;

/// Stands for a step that the deployment has and the caller does not.
void spend_on_core(Time time) {
  const Time end = time_on_core() + time;
  while (time_on_core() < end) {
  }
}

/// What it does, and how long that was on the core; a paced thread sleeps for most of that time.
template <class Work>
void timed(PhaseTimes& times, const Paced& paced, const Work& work) {
  if (paced) return times.add(paced(work));
  const Time begin = time_on_core();
  work();
  times.add(time_on_core() - begin);
}

/// Firings of a frame, by task; the network's is one.
std::vector<std::int64_t> firings_of(const GroupPlace& place, bool has_network) {
  if (place.graph.empty()) return {1};
  return system::firings(place.graph, has_network);
}

/// Whether the first firing of a frame could come before the frame is released.
bool has_to_wait_for_release(const system::TaskGraph& graph, std::size_t node) {
  bool has_input = false;
  for (const system::GraphEdge& edge : graph.edges) {
    if (edge.to != node) continue;
    has_input = true;
    if (edge.tokens > 0) return true;
  }
  return !has_input;
}

/// Work of a task: its function, or what stands for it. It owns all that it touches.
std::function<bool(const Firing&, PhaseTimes&)> work_of(const StepPlace& place,
                                                        const TaskToRun* code) {
  const Paced paced = code == nullptr ? Paced{} : code->paced;
  if (code == nullptr || !code->make)
    return [worst = paced ? Time{} : place.worst, paced](const Firing&, PhaseTimes& times) {
      timed(times, paced, [&] { spend_on_core(worst); });
      return true;
    };
  return [fire = code->make(), paced, what = fmt::format("task '{}'", place.task),
          skips = code->skips_empty](const Firing& firing, PhaseTimes& times) {
    if (skips && has_only_empty_inputs(firing)) {
      leave_outputs_empty(firing);
      return true;
    }
    timed(times, paced, [&] { fire_named(fire, firing, what); });
    return true;
  };
}

}  // namespace

void GroupRunner::add_actors() {
  std::vector<std::int64_t> spaces = place_.spaces;
  if (spaces.empty() && !place_.graph.empty())
    spaces = system::spaces_without_waits(place_.graph, session_.has_value(), place_.most);
  std::vector<std::int64_t> bytes = group_.token_bytes;
  bytes.resize(place_.graph.edges.size());
  system::check_spaces(place_.graph, spaces, bytes);
  for (std::size_t e = 0; e < place_.graph.edges.size(); ++e) {
    const system::GraphEdge& edge = place_.graph.edges[e];
    queues_.push_back(std::make_shared<TokenQueue>(
        QueueShape{edge.produces, edge.consumes, edge.tokens, spaces[e], bytes[e]}));
  }
  std::vector<ActorPlan> plans;
  if (session_) plans.push_back(front_plan());
  for (std::size_t t = 0; t < place_.graph.tasks.size(); ++t) plans.push_back(task_plan(t));
  if (session_) plans.push_back(back_plan());
  for (ActorPlan& plan : plans) {
    plan.trace_frames = plan.name.empty() || place_.graph.empty() ? 0 : place_.trace_frames;
    actors_.push_back(std::make_shared<GroupActor>(std::move(plan)));
  }
}

/// Puts frames into the network.
ActorPlan GroupRunner::front_plan() {
  ActorPlan plan;
  plan.name = place_.front.task;
  plan.thread = place_.name + " pre";
  plan.processor = place_.front.processor;
  plan.waits_for_release = has_to_wait_for_release(place_.graph, place_.graph.network());
  plan.feeds_network = true;
  connect_inputs(place_.graph.network(), plan);
  plan.work = [this](const Firing& firing, PhaseTimes& times) {
    return session_->submit_in_place([&](Inputs inputs) {
      for (std::size_t i = 0; i < firing.inputs.size(); ++i)
        std::ranges::copy(firing.inputs[i], inputs[i].data());
      timed(times, group_.paced_front, [&] { fill(inputs); });
      keep_suspect(inputs);
    });
  };
  return plan;
}

/// Takes results out of the network.
ActorPlan GroupRunner::back_plan() {
  ActorPlan plan;
  plan.name = place_.back.task;
  plan.thread = place_.name + " post";
  plan.processor = place_.back.processor;
  plan.waits_for_release = false;
  plan.after_network = true;
  plan.work = [this, carried = connect_outputs(place_.graph.network(), plan)](const Firing& firing,
                                                                              PhaseTimes& times) {
    return session_->next_in_place([&](Outputs outputs) {
      for (std::size_t i = 0; i < carried.size(); ++i)
        std::ranges::copy(outputs[carried[i]], firing.outputs[i].data());
      timed(times, group_.paced_back, [&] { use(outputs); });
    });
  };
  return plan;
}

ActorPlan GroupRunner::task_plan(std::size_t task) const {
  const StepPlace& place = place_.tasks.at(task);
  ActorPlan plan;
  plan.name = place.task;
  plan.thread = fmt::format("{} {}", place_.name, place.task);
  plan.processor = place.processor;
  plan.firings = firings_of(place_, session_.has_value()).at(task);
  plan.waits_for_release = has_to_wait_for_release(place_.graph, task);
  connect_inputs(task, plan);
  connect_outputs(task, plan);
  plan.work = work_of(place, task < group_.tasks.size() ? &group_.tasks[task] : nullptr);
  plan.can_be_left = true;
  return plan;
}

void GroupRunner::connect_inputs(std::size_t node, ActorPlan& plan) const {
  for (std::size_t e = 0; e < queues_.size(); ++e)
    if (place_.graph.edges[e].to == node) plan.inputs.push_back(queues_[e]);
}

std::vector<std::size_t> GroupRunner::connect_outputs(std::size_t node, ActorPlan& plan) const {
  std::map<std::size_t, std::vector<std::shared_ptr<TokenQueue>>> carried;
  const std::vector<std::size_t> outputs = system::outputs_of_edges(place_.graph);
  for (std::size_t e = 0; e < queues_.size(); ++e)
    if (place_.graph.edges[e].from == node) carried[outputs[e]].push_back(queues_[e]);
  std::vector<std::size_t> result;
  for (auto& [output, queues] : carried) {
    result.push_back(output);
    plan.outputs.push_back(std::move(queues));
  }
  return result;
}

void GroupRunner::fill(Inputs inputs) {
  if (group_.preprocess)
    group_.preprocess(inputs);
  else if (!place_.front.task.empty() && !group_.paced_front)
    spend_on_core(place_.front.worst);
}

void GroupRunner::use(Outputs outputs) {
  if (group_.postprocess)
    group_.postprocess(outputs);
  else if (!place_.back.task.empty() && !group_.paced_back)
    spend_on_core(place_.back.worst);
}

}  // namespace millrace::runtime
