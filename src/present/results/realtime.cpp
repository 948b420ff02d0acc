#include "present/results/realtime.h"

#include <fmt/format.h>

#include "base/json_text.h"
#include "present/description.h"
#include "present/svg/gantt.h"

namespace millrace::present {
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

/// In JSON ticks, for people in the unit of the file.
Value ticks(Time time, const TimeUnit& unit) {
  return {time == unbounded ? nlohmann::json() : nlohmann::json(time.count()),
          realtime::to_text(time, unit)};
}

Description<std::size_t> resource_fields(const TaskSystem& system, const RealtimeAnswers& answers) {
  return Description<std::size_t>({
      {"name", "resource", [&](std::size_t r) { return system.resources[r].name; }},
      {"policy", "policy", [&](std::size_t r) { return to_text(system.resources[r].policy); }},
      {"utilisation", "utilisation",
       [&](std::size_t r) { return Value::share(answers.utilisations[r].share); }},
      {"overloaded", nullptr, [&](std::size_t r) { return answers.utilisations[r].is_overloaded; }},
  });
}

Description<std::size_t> flow_fields(const TaskFile& file, const RealtimeAnswers& answers) {
  const auto flow = [&](std::size_t f) -> const Flow& { return file.system.flows[f]; };
  const auto bound = [&](std::size_t f) -> const FlowBound& { return answers.bounds.flows[f]; };
  const auto text = [&](Time time) { return ticks(time, file.unit); };
  const auto seen = [=, &answers](std::size_t f) {
    if (!answers.simulated) return Value::none();
    const auto& largest = answers.simulated->largest;
    return text(flow(f).deadline_from_due ? largest.completions[f] : largest.flows[f]);
  };
  const auto keeps = [=, &file](std::size_t f) {
    return Value{flow(f).deadline ? nlohmann::json(judged(flow(f), bound(f)) <= *flow(f).deadline)
                                  : nlohmann::json(),
                 judgement(flow(f), bound(f), file.unit)};
  };
  return Description<std::size_t>({
      {"name", "flow", [=](std::size_t f) { return flow(f).name; }},
      {"deadline_ticks", "deadline",
       [=](std::size_t f) { return flow(f).deadline ? text(*flow(f).deadline) : Value::none(); }},
      {"deadline_from", nullptr,
       [=](std::size_t f) { return flow(f).deadline_from_due ? "due" : "activation"; }},
      {"bound_ticks", "bound", [=](std::size_t f) { return text(judged(flow(f), bound(f))); }},
      {"simulated_ticks", "simulated", seen},
      {"sum_ticks", "sum of tasks", [=](std::size_t f) { return text(bound(f).path_sum); }},
      {"keeps_deadline", "", keeps, Align::left},
      {"response_ticks", nullptr, [=](std::size_t f) { return text(bound(f).response); }},
      {"completion_ticks", nullptr, [=](std::size_t f) { return text(bound(f).completion); }},
      {"best_ticks", nullptr, [=](std::size_t f) { return text(bound(f).best); }},
      {"no_bound", nullptr,
       [&](std::size_t f) { return no_bound_json(file.system, answers.bounds, f); }},
  });
}

Description<std::size_t> task_fields(const TaskFile& file, const RealtimeAnswers& answers) {
  const auto task = [&](std::size_t t) -> const Task& { return file.system.tasks[t]; };
  const auto bound = [&](std::size_t t) -> const TaskBound& { return answers.bounds.tasks[t]; };
  const auto text = [&](Time time) { return ticks(time, file.unit); };
  const auto largest = [=, &answers](std::size_t t) {
    const bool is_known = t < answers.largest_times.size() && answers.largest_times[t];
    return is_known ? text(*answers.largest_times[t]) : Value::none();
  };
  return Description<std::size_t>({
      {"name", "task", [=](std::size_t t) { return task(t).name; }},
      {"resource", "resource",
       [=, &file](std::size_t t) { return file.system[task(t).resource].name; }},
      {"worst_ticks", "worst", [=](std::size_t t) { return text(task(t).worst); }},
      {"bound_ticks", "bound", [=](std::size_t t) { return text(bound(t).response); }},
      {"simulated_ticks", "simulated",
       [=, &answers](std::size_t t) {
         return answers.simulated ? text(answers.simulated->largest.tasks[t]) : Value::none();
       }},
      {"jitter_ticks", "jitter",
       [=](std::size_t t) {
         return bound(t).response == unbounded ? Value::none() : text(bound(t).activations.jitter);
       }},
      {"largest_worst_ticks", "worst may be", largest},
  });
}

std::string growth_text(std::int64_t millionths) {
  const double factor = static_cast<double>(millionths / 100) / 1e4;  // rounded down
  if (millionths < 1'000'000)
    return fmt::format("growth       all times must shrink to {:.4f} of what they are\n", factor);
  return fmt::format("growth       all times may grow to {:.4f} of what they are\n", factor);
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

std::string no_bounds_text(const TaskSystem& system, const Bounds& bounds, std::size_t flows) {
  std::string text;
  for (std::size_t f = 0; f < flows; ++f)
    if (bounds.reasons[f])
      text += fmt::format("no bound of '{}': {}\n", system.flows[f].name,
                          no_bound_text(system, *bounds.reasons[f]));
  return text;
}

nlohmann::json no_bound_json(const TaskSystem& system, const Bounds& bounds, std::size_t flow) {
  if (!bounds.reasons[flow]) return nullptr;
  const NoBound& reason = *bounds.reasons[flow];
  const auto names = [&](const std::vector<TaskId>& tasks) {
    nlohmann::json list = nlohmann::json::array();
    for (const TaskId task : tasks) list.push_back(system[task].name);
    return list;
  };
  return {{"rule", to_text(reason.rule)},
          {"resource", system[system[reason.last()].resource].name},
          {"chain", names(reason.chain)},
          {"circle", names(reason.circle)},
          {"text", no_bound_text(system, reason)}};
}

std::string realtime_text(const TaskFile& file, const RealtimeAnswers& answers) {
  std::string text = fmt::format("schedulable  {}\n", answers.is_schedulable() ? "yes" : "no");
  if (answers.growth_millionths) text += growth_text(*answers.growth_millionths);
  text += fmt::format("times        {}\n\n", file.unit.name.empty()
                                                 ? "in the file's unit"
                                                 : fmt::format("in {}", file.unit.name));
  const TaskSystem& system = file.system;
  return text + resource_fields(system, answers).table(numbers_of(system.resources)).text() + "\n" +
         flow_fields(file, answers).table(numbers_of(system.flows)).text() +
         no_bounds_text(system, answers.bounds, system.flows.size()) + "\n" +
         task_fields(file, answers).table(numbers_of(system.tasks)).text();
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
      {"resources", resource_fields(file.system, answers).array(numbers_of(file.system.resources))},
      {"flows", flow_fields(file, answers).array(numbers_of(file.system.flows))},
      {"tasks", task_fields(file, answers).array(numbers_of(file.system.tasks))}};
  if (answers.growth_millionths)
    json["growth"] = static_cast<double>(*answers.growth_millionths) / 1e6;
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

}  // namespace millrace::present
