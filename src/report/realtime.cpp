#include "report/realtime.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "report/gantt.h"
#include "report/table.h"

namespace millrace::report {
namespace {

using namespace realtime;

/// How much later than its deadline, or how much earlier if negative.
std::optional<Time> lateness(const Flow& flow, const FlowBound& bound) {
  const Time counted = judged(flow, bound);
  if (!flow.deadline || counted == unbounded) return std::nullopt;
  return counted - *flow.deadline;
}

std::string judgement(const Flow& flow, const FlowBound& bound, const TimeUnit& unit) {
  if (!flow.deadline) return "";
  const auto late = lateness(flow, bound);
  if (!late) return "may miss";
  return *late > Time{} ? fmt::format("may miss by {}", realtime::to_text(*late, unit))
                        : fmt::format("{} to spare", realtime::to_text(-*late, unit));
}

std::string resources_text(const TaskSystem& system, const RealtimeAnswers& answers) {
  Table table({{"resource", Align::left}, {"policy", Align::left}, {"utilisation"}});
  for (std::size_t r = 0; r < system.resources.size(); ++r)
    table.add({system.resources[r].name, to_text(system.resources[r].policy),
               fmt::format("{:.1f} %", 100 * answers.utilisations[r].share)});
  return table.text();
}

std::string flows_text(const TaskFile& file, const RealtimeAnswers& answers) {
  Table table({{"flow", Align::left},
               {"deadline"},
               {"bound"},
               {"simulated"},
               {"sum of tasks"},
               {"", Align::left}});
  const auto text = [&](Time time) { return realtime::to_text(time, file.unit); };
  for (std::size_t f = 0; f < file.system.flows.size(); ++f) {
    const Flow& flow = file.system.flows[f];
    const FlowBound& bound = answers.bounds.flows[f];
    std::string seen = "-";
    if (answers.simulated)
      seen = text(flow.deadline_from_due ? answers.simulated->largest.completions[f]
                                         : answers.simulated->largest.flows[f]);
    table.add({flow.name, flow.deadline ? text(*flow.deadline) : "-", text(judged(flow, bound)),
               seen, text(bound.path_sum), judgement(flow, bound, file.unit)});
  }
  return table.text();
}

std::string tasks_text(const TaskFile& file, const RealtimeAnswers& answers) {
  Table table({{"task", Align::left},
               {"resource", Align::left},
               {"worst"},
               {"bound"},
               {"simulated"},
               {"jitter"},
               {"worst may be"}});
  const auto text = [&](Time time) { return realtime::to_text(time, file.unit); };
  for (std::size_t t = 0; t < file.system.tasks.size(); ++t) {
    const Task& task = file.system.tasks[t];
    const TaskBound& bound = answers.bounds.tasks[t];
    const bool has_largest = t < answers.largest_times.size() && answers.largest_times[t];
    table.add({task.name, file.system[task.resource].name, text(task.worst), text(bound.response),
               answers.simulated ? text(answers.simulated->largest.tasks[t]) : "-",
               bound.response == unbounded ? "-" : text(bound.activations.jitter),
               has_largest ? text(*answers.largest_times[t]) : "-"});
  }
  return table.text();
}

std::string growth_text(std::int64_t millionths) {
  const double factor = static_cast<double>(millionths / 100) / 1e4;  // rounded down
  if (millionths < 1'000'000)
    return fmt::format("growth       all times must shrink to {:.4f} of what they are\n", factor);
  return fmt::format("growth       all times may grow to {:.4f} of what they are\n", factor);
}

nlohmann::json time_json(Time time) {
  return time == unbounded ? nlohmann::json() : nlohmann::json(time.count());
}

nlohmann::json flow_json(const Flow& flow, std::size_t f, const RealtimeAnswers& answers) {
  const FlowBound& bound = answers.bounds.flows[f];
  nlohmann::json json{{"name", flow.name},
                      {"deadline_ticks", nullptr},
                      {"deadline_from", flow.deadline_from_due ? "due" : "activation"},
                      {"bound_ticks", time_json(judged(flow, bound))},
                      {"response_ticks", time_json(bound.response)},
                      {"completion_ticks", time_json(bound.completion)},
                      {"sum_ticks", time_json(bound.path_sum)},
                      {"best_ticks", time_json(bound.best)},
                      {"keeps_deadline", nullptr},
                      {"simulated_ticks", nullptr}};
  if (flow.deadline) {
    json["deadline_ticks"] = flow.deadline->count();
    json["keeps_deadline"] = judged(flow, bound) <= *flow.deadline;
  }
  if (answers.simulated)
    json["simulated_ticks"] = (flow.deadline_from_due ? answers.simulated->largest.completions[f]
                                                      : answers.simulated->largest.flows[f])
                                  .count();
  return json;
}

nlohmann::json task_json(const TaskSystem& system, std::size_t t, const RealtimeAnswers& answers) {
  const Task& task = system.tasks[t];
  const TaskBound& bound = answers.bounds.tasks[t];
  const bool has_largest = t < answers.largest_times.size() && answers.largest_times[t];
  nlohmann::json json{{"name", task.name},
                      {"resource", system[task.resource].name},
                      {"worst_ticks", task.worst.count()},
                      {"bound_ticks", time_json(bound.response)},
                      {"jitter_ticks", nullptr},
                      {"simulated_ticks", nullptr},
                      {"largest_worst_ticks", nullptr}};
  if (bound.response != unbounded) json["jitter_ticks"] = bound.activations.jitter.count();
  if (answers.simulated) json["simulated_ticks"] = answers.simulated->largest.tasks[t].count();
  if (has_largest) json["largest_worst_ticks"] = answers.largest_times[t]->count();
  return json;
}

/// The flow whose bound is the largest share of its deadline, else of its period.
std::size_t tightest(const TaskSystem& system, const RealtimeAnswers& answers) {
  std::size_t found = 0;
  double largest = -1;
  for (std::size_t f = 0; f < system.flows.size(); ++f) {
    const Flow& flow = system.flows[f];
    const Time limit = std::max(Time{1}, flow.deadline.value_or(flow.events.period));
    const double share = static_cast<double>(judged(flow, answers.bounds.flows[f]).count()) /
                         static_cast<double>(limit.count());
    if (share <= largest) continue;
    largest = share;
    found = f;
  }
  return found;
}

}  // namespace

std::string realtime_text(const TaskFile& file, const RealtimeAnswers& answers) {
  std::string text = fmt::format("schedulable  {}\n", answers.is_schedulable() ? "yes" : "no");
  if (answers.growth_millionths) text += growth_text(*answers.growth_millionths);
  text += fmt::format("times        {}\n\n", file.unit.name.empty()
                                                 ? "in the file's unit"
                                                 : fmt::format("in {}", file.unit.name));
  return text + resources_text(file.system, answers) + "\n" + flows_text(file, answers) + "\n" +
         tasks_text(file, answers);
}

std::string realtime_json(const TaskFile& file, const RealtimeAnswers& answers) {
  nlohmann::json json{
      {"format", 1},
      {"kind", "realtime"},
      {"unit", file.unit.name.empty() ? nlohmann::json() : nlohmann::json(file.unit.name)},
      {"ticks_per_unit", file.unit.ticks},
      {"schedulable", answers.is_schedulable()},
      {"reason", answers.reason},
      {"growth", nullptr},
      {"resources", nlohmann::json::array()},
      {"flows", nlohmann::json::array()},
      {"tasks", nlohmann::json::array()}};
  if (answers.growth_millionths)
    json["growth"] = static_cast<double>(*answers.growth_millionths) / 1e6;
  for (std::size_t r = 0; r < file.system.resources.size(); ++r)
    json["resources"].push_back({{"name", file.system.resources[r].name},
                                 {"policy", to_text(file.system.resources[r].policy)},
                                 {"utilisation", answers.utilisations[r].share},
                                 {"overloaded", answers.utilisations[r].is_overloaded}});
  for (std::size_t f = 0; f < file.system.flows.size(); ++f)
    json["flows"].push_back(flow_json(file.system.flows[f], f, answers));
  for (std::size_t t = 0; t < file.system.tasks.size(); ++t)
    json["tasks"].push_back(task_json(file.system, t, answers));
  return json_text(json, 1) + "\n";
}

std::string realtime_gantt(const TaskFile& file, const RealtimeAnswers& answers) {
  return flow_gantt(file.system, *answers.simulated, FlowId(tightest(file.system, answers)));
}

std::string flow_gantt(const TaskSystem& system, const SimulatedResponses& simulated, FlowId flow) {
  Trace trace;
  run_scenario(system, simulated.worst[flow.index], &trace);
  GanttOptions options{
      .title = fmt::format("the longest response of {} in the simulation", system[flow].name)};
  Time longest{};
  for (const TraceFrame& frame : trace.frames) {
    const Time response = frame.completed - frame.released;
    if (frame.plan != flow.index || response <= longest) continue;
    longest = response;
    options.from = std::max(Time{}, frame.released - response / 4);
    options.to = frame.completed + response / 4;
  }
  return gantt_svg(trace, options);
}

}  // namespace millrace::report
