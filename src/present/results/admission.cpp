#include "present/results/admission.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/text/escape.h"
#include "present/svg/gantt.h"
#include "present/text/table.h"

namespace millrace::present {
namespace {

std::string share_text(double share) { return fmt::format("{:.1f} %", share * 100); }

constexpr std::array<realtime::TablePart, 3> parts{
    realtime::TablePart::in, realtime::TablePart::run, realtime::TablePart::out};

std::string name_of(const realtime::TableTask& task, realtime::TablePart part) {
  return part == realtime::TablePart::run ? task.name : task.name + " " + to_text(part);
}

/// A trace of the table, a plan for each task.
Trace trace_of(const realtime::StaticTable& table, const std::vector<realtime::TableTask>& tasks,
               const std::vector<std::string>& units) {
  Trace trace;
  std::vector<std::array<std::vector<std::size_t>, parts.size()>> stages(tasks.size());
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    trace.plans.push_back(tasks[t].name);
    for (std::size_t p = 0; p < parts.size(); ++p)
      for (const std::size_t unit : units_of(tasks[t], parts[p])) {
        stages[t][p].push_back(trace.stages.size());
        trace.stages.push_back({t, name_of(tasks[t], parts[p]), units[unit]});
      }
  }
  for (const realtime::TableEntry& entry : table.entries)
    for (const std::size_t stage : stages[entry.task][static_cast<std::size_t>(entry.part)])
      trace.firings.push_back({stage, 0, entry.job, 1, entry.begin, entry.end});
  std::ranges::stable_sort(trace.firings, {}, &TraceFiring::end);
  return trace;
}

std::uint64_t bits_of(const std::vector<std::size_t>& units) {
  std::uint64_t bits = 0;
  for (const std::size_t unit : units) bits |= std::uint64_t{1} << unit;
  return bits;
}

}  // namespace

std::string admission_text(const AdmissionRows& rows) {
  const auto& [problem, choice, precisions, as_run] = rows;
  const bool has_other_periods = as_run != problem;
  std::vector<Table::Column> columns{{"group", Align::left},
                                     {"processor", Align::left},
                                     {"precision", Align::left},
                                     {"transfers"},
                                     {"time"},
                                     {"period"}};
  if (has_other_periods) columns.push_back({"in the table"});
  columns.insert(columns.end(), {{"deadline"}, {"slack"}, {"utilisation"}});
  Table tasks(columns);
  for (std::size_t t = 0; t < choice.size(); ++t) {
    const explore::AdmissionTask& task = problem.tasks[t];
    const Time time = *task.times[choice[t]], all = time_with_transfers(task, choice[t]);
    std::vector<std::string> cells{task.name,     problem.processors[choice[t]].name,
                                   precisions[t], all > time ? to_text(all - time) : "-",
                                   to_text(time), to_text(task.period)};
    if (has_other_periods) cells.push_back(to_text(as_run.tasks[t].period));
    cells.insert(cells.end(), {to_text(task.deadline), to_text(task.deadline - all),
                               share_text(utilisation(as_run.tasks[t], choice[t]).value())});
    tasks.add(cells);
  }
  Table units({{"unit", Align::left}, {"load"}, {"free"}});
  const std::vector<double> loads = loads_of(as_run, choice);
  for (std::size_t u = 0; u < loads.size(); ++u)
    units.add({problem.units[u], share_text(loads[u]), share_text(std::max(0.0, 1 - loads[u]))});
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
      "  std::uint64_t units, link;  // a bit for each\n}};\n\n",
      table.cycle.count(),
      table.frame > Time{} ? fmt::format(", in frames of {} ns", table.frame.count()) : "",
      table.cycle.count());
  std::vector<std::string> names;
  for (const std::string& unit : units) names.push_back(cpp_string(unit));
  text += fmt::format("inline constexpr const char* units[] = {{{}}};\n\n", fmt::join(names, ", "));
  text += "inline constexpr Task tasks[] = {\n";
  for (const realtime::TableTask& task : tasks) {
    const std::uint64_t link = task.transfers ? std::uint64_t{1} << task.transfers->link : 0;
    text += fmt::format("    {{{}, {}, {}, {}, {:#x}, {:#x}}},\n", cpp_string(task.name),
                        task.period.count(), task.deadline.count(), task.worst.count(),
                        bits_of(task.units), link);
  }
  text +=
      "};\n\n/// Over the link to the units, on the units, over the link from them.\n"
      "enum class Part { in, run, out };\n\n"
      "struct Entry {\n  std::int64_t begin_ns, end_ns;\n  std::int32_t task, job;\n"
      "  Part part;\n};\n\n"
      "/// By begin.\ninline constexpr Entry entries[] = {\n";
  for (const realtime::TableEntry& entry : table.entries)
    text += fmt::format("    {{{}, {}, {}, {}, Part::{}}},\n", entry.begin.count(),
                        entry.end.count(), entry.task, entry.job, to_text(entry.part));
  return text + "};\n\n}  // namespace static_table\n";
}

}  // namespace millrace::present
