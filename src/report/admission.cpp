#include "report/admission.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "report/gantt.h"
#include "report/table.h"

namespace millrace::report {
namespace {

std::string share_text(explore::Billionths share) {
  return fmt::format("{:.1f} %", static_cast<double>(share) * 100 / explore::whole_unit);
}

/// A trace of the table, a plan for each task.
Trace trace_of(const realtime::StaticTable& table, const std::vector<realtime::TableTask>& tasks,
               const std::vector<std::string>& units) {
  Trace trace;
  std::vector<std::vector<std::size_t>> stages(tasks.size());
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    trace.plans.push_back(tasks[t].name);
    for (std::size_t unit : tasks[t].units) {
      stages[t].push_back(trace.stages.size());
      trace.stages.push_back({t, tasks[t].name, units[unit]});
    }
  }
  for (const realtime::TableEntry& entry : table.entries)
    for (std::size_t stage : stages[entry.task])
      trace.firings.push_back({stage, 0, entry.job, 1, entry.begin, entry.end});
  std::ranges::stable_sort(trace.firings, {}, &TraceFiring::end);
  return trace;
}

/// What C++ takes as text between quotes.
std::string quoted(const std::string& name) {
  std::string text;
  for (const char c : name) {
    const bool plain = c >= ' ' && c < 127 && c != '"' && c != '\\';
    text += plain ? c : '_';
  }
  return "\"" + text + "\"";
}

}  // namespace

std::string admission_text(const explore::AdmissionProblem& problem,
                           const explore::AdmissionChoice& choice,
                           const std::vector<std::string>& precisions) {
  Table tasks({{"group", Align::left},
               {"processor", Align::left},
               {"precision", Align::left},
               {"time"},
               {"period"},
               {"deadline"},
               {"slack"},
               {"utilisation"}});
  for (std::size_t t = 0; t < choice.size(); ++t) {
    const explore::AdmissionTask& task = problem.tasks[t];
    const Time time = *task.times[choice[t]];
    tasks.add({task.name, problem.processors[choice[t]].name, precisions[t], to_text(time),
               to_text(task.period), to_text(task.deadline), to_text(task.deadline - time),
               share_text(utilisation(task, choice[t]))});
  }
  Table units({{"unit", Align::left}, {"load"}, {"free"}});
  const std::vector<explore::Billionths> loads = loads_of(problem, choice);
  for (std::size_t u = 0; u < loads.size(); ++u)
    units.add({problem.units[u], share_text(loads[u]), share_text(explore::whole_unit - loads[u])});
  return tasks.text() + "\n" + units.text();
}

std::string static_table_gantt(const realtime::StaticTable& table,
                               const std::vector<realtime::TableTask>& tasks,
                               const std::vector<std::string>& units) {
  constexpr std::size_t most = 2000;  // entries that a picture can show
  GanttOptions options;
  options.title = fmt::format("Static table, again every {}", to_text(table.cycle));
  options.to = table.entries.size() > most ? table.entries[most].begin : table.cycle;
  return gantt_svg(trace_of(table, tasks, units), options);
}

std::string static_table_cpp(const realtime::StaticTable& table,
                             const std::vector<realtime::TableTask>& tasks,
                             const std::vector<std::string>& units) {
  std::string text = fmt::format(
      "#pragma once\n"
      "// A static table made by Millrace. It begins again every {} ns{}.\n"
      "#include <cstdint>\n\n"
      "namespace static_table {{\n\n"
      "inline constexpr std::int64_t cycle_ns = {};\n\n"
      "struct Task {{\n  const char* name;\n  std::int64_t period_ns, deadline_ns, worst_ns;\n"
      "  std::uint64_t units;  // a bit for each\n}};\n\n",
      table.cycle.count(),
      table.frame > Time{} ? fmt::format(", in frames of {} ns", table.frame.count()) : "",
      table.cycle.count());
  std::vector<std::string> names;
  for (const std::string& unit : units) names.push_back(quoted(unit));
  text += fmt::format("inline constexpr const char* units[] = {{{}}};\n\n", fmt::join(names, ", "));
  text += "inline constexpr Task tasks[] = {\n";
  for (const realtime::TableTask& task : tasks) {
    std::uint64_t bits = 0;
    for (std::size_t unit : task.units) bits |= std::uint64_t{1} << unit;
    text += fmt::format("    {{{}, {}, {}, {}, {:#x}}},\n", quoted(task.name), task.period.count(),
                        task.deadline.count(), task.worst.count(), bits);
  }
  text +=
      "};\n\nstruct Entry {\n  std::int64_t begin_ns, end_ns;\n  std::int32_t task, job;\n};\n\n"
      "/// By begin.\ninline constexpr Entry entries[] = {\n";
  for (const realtime::TableEntry& entry : table.entries)
    text += fmt::format("    {{{}, {}, {}, {}}},\n", entry.begin.count(), entry.end.count(),
                        entry.task, entry.job);
  return text + "};\n\n}  // namespace static_table\n";
}

}  // namespace millrace::report
