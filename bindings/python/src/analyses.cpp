#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "dataflow/analysis.h"
#include "dataflow/buffers.h"
#include "millrace/error.h"
#include "module.h"
#include "realtime/analysis.h"

namespace millrace::python {
namespace {

namespace nb = nanobind;
using namespace nb::literals;

std::vector<Time> times_of(const std::vector<std::int64_t>& units) {
  return {units.begin(), units.end()};
}

std::string refusal_of(const Verdict& verdict) {
  return verdict ? std::string() : verdict.reason();
}

/// A balanced and live graph, or an Error that says why not.
void require_sound(const dataflow::Graph& graph) {
  std::string why = refusal_of(dataflow::is_consistent(graph));
  if (why.empty()) why = refusal_of(dataflow::is_live(graph));
  if (!why.empty()) throw Error(ErrorKind::infeasible, why, {"graph", why, {}});
}

nb::tuple fraction_of(const dataflow::Fraction& fraction) {
  return nb::make_tuple(fraction.over(), fraction.under());
}

nb::tuple throughput_of(const dataflow::Graph& graph) {
  require_sound(graph);
  const auto found = dataflow::throughput(graph);
  if (!found)
    throw Error(ErrorKind::infeasible,
                "graph: its throughput needs more firings than are looked at",
                {"graph", "needs more firings than are looked at", {}});
  nb::list cycle;
  for (const dataflow::CycleStep& step : found->critical_cycle)
    cycle.append(nb::make_tuple(graph[step.actor].name, step.phase));
  return nb::make_tuple(found->span.count(), found->iterations, nb::tuple(cycle));
}

nb::list buffers_of(const dataflow::Graph& graph) {
  require_sound(graph);
  nb::list rows;
  for (const dataflow::Sizing& point : dataflow::pareto_front(graph).points)
    rows.append(nb::make_tuple(point.total, fraction_of(point.period),
                               nb::tuple(nb::cast(point.capacities))));
  return rows;
}

realtime::SchedulingPolicy policy_named(const std::string& name) {
  for (const realtime::SchedulingPolicy policy : realtime::all_policies)
    if (name == realtime::to_text(policy)) return policy;
  std::string known;
  for (const realtime::SchedulingPolicy policy : realtime::all_policies)
    known += (known.empty() ? "" : ", ") + std::string(realtime::to_text(policy));
  throw Error(ErrorKind::input, "policy: found '" + name + "', expected one of " + known,
              {"policy", "found '" + name + "'", known});
}

nb::object units_or_none(Time time) {
  return time == realtime::unbounded ? nb::none() : nb::cast(time.count());
}

nb::tuple bounds_of(const realtime::TaskSystem& system) {
  const realtime::Bounds bounds = realtime::analyse(system);
  nb::list flows, tasks;
  for (std::size_t f = 0; f < system.flows.size(); ++f) {
    const realtime::FlowBound& bound = bounds.flows[f];
    const auto& deadline = system.flows[f].deadline;
    flows.append(
        nb::make_tuple(system.flows[f].name, units_or_none(bound.response), bound.best.count(),
                       deadline ? nb::cast(deadline->count()) : nb::none(),
                       !deadline || realtime::judged(system.flows[f], bound) <= *deadline));
  }
  for (std::size_t t = 0; t < system.tasks.size(); ++t)
    tasks.append(nb::make_tuple(system.tasks[t].name, units_or_none(bounds.tasks[t].response)));
  return nb::make_tuple(flows, tasks, realtime::is_schedulable(system, bounds));
}

void add_channel(dataflow::Graph& graph, const std::string& name, nb::tuple ends, nb::tuple rates) {
  dataflow::Channel channel;
  channel.name = name;
  channel.from = dataflow::ActorId(nb::cast<std::size_t>(ends[0]));
  channel.to = dataflow::ActorId(nb::cast<std::size_t>(ends[1]));
  channel.production = nb::cast<std::vector<std::int64_t>>(rates[0]);
  channel.consumption = nb::cast<std::vector<std::int64_t>>(rates[1]);
  channel.initial_tokens = nb::cast<std::int64_t>(rates[2]);
  graph.add_channel(std::move(channel));
}

std::size_t add_flow(realtime::TaskSystem& system, const std::string& name, nb::tuple events,
                     std::optional<std::int64_t> deadline) {
  realtime::Flow flow;
  flow.name = name;
  flow.events.period = Time{nb::cast<std::int64_t>(events[0])};
  flow.events.jitter = Time{nb::cast<std::int64_t>(events[1])};
  flow.events.min_distance = Time{nb::cast<std::int64_t>(events[2])};
  flow.events.sporadic = nb::cast<bool>(events[3]);
  if (deadline) flow.deadline = Time{*deadline};
  return system.add_flow(std::move(flow)).index;
}

std::size_t add_task(realtime::TaskSystem& system, std::size_t flow, nb::tuple given,
                     const std::vector<std::size_t>& after) {
  realtime::Task task;
  task.name = nb::cast<std::string>(given[0]);
  task.resource = realtime::ResourceId(nb::cast<std::size_t>(given[1]));
  task.worst = Time{nb::cast<std::int64_t>(given[2])};
  task.best = Time{nb::cast<std::int64_t>(given[3])};
  task.priority = nb::cast<std::int64_t>(given[4]);
  for (const std::size_t each : after) task.after.emplace_back(each);
  return system.add_task(realtime::FlowId(flow), std::move(task)).index;
}

}  // namespace

void add_dataflow(nb::module_& module) {
  using dataflow::Graph;
  nb::class_<Graph>(module, "Graph")
      .def(nb::init<>())
      .def_rw("name", &Graph::name)
      .def("add_actor",
           [](Graph& graph, const std::string& name, const std::vector<std::int64_t>& times,
              bool concurrent) {
             return graph.add_actor({name, times_of(times), concurrent}).index;
           })
      .def("add_channel", &add_channel)
      .def("bound_channel",
           [](Graph& graph, std::size_t channel, std::int64_t capacity) {
             dataflow::bound_channel(graph, dataflow::ChannelId(channel), capacity);
           })
      .def("check", [](const Graph& graph) { dataflow::validate(graph); })
      .def("repetitions", [](const Graph& graph) { return dataflow::repetition_vector(graph); })
      .def("why_not_live",
           [](const Graph& graph) {
             const std::string why = refusal_of(dataflow::is_consistent(graph));
             return why.empty() ? refusal_of(dataflow::is_live(graph)) : why;
           })
      .def("throughput", &throughput_of)
      .def("latency",
           [](const Graph& graph) {
             require_sound(graph);
             return dataflow::latency(graph).count();
           })
      .def("buffers", &buffers_of)
      .def("dot", [](const Graph& graph) { return dataflow::to_dot(graph); });
}

void add_realtime(nb::module_& module) {
  using realtime::TaskSystem;
  nb::class_<TaskSystem>(module, "TaskSystem")
      .def(nb::init<>())
      .def("add_resource",
           [](TaskSystem& system, const std::string& name, const std::string& policy) {
             return system.add_resource({name, policy_named(policy)}).index;
           })
      .def("add_flow", &add_flow, "name"_a, "events"_a, "deadline"_a.none())
      .def("add_task", &add_task)
      .def("bounds", &bounds_of);
}

}  // namespace millrace::python
