#include "present/results/admission.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/text/escape.h"
#include "present/description.h"
#include "present/svg/gantt.h"

namespace millrace::present {
namespace {

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

/// A row for each task: where it runs, in which precision, its time, its share of each unit. Shares
/// are those of the static table's periods.
std::string tasks_text(const product::AdmitResult& result,
                       const explore::AdmissionProblem& as_run) {
  const explore::AdmissionChoice& choice = result.admission.choice;
  const auto task = [&](std::size_t t) -> const explore::AdmissionTask& {
    return result.problem.tasks[t];
  };
  const auto time = [=](std::size_t t) { return *task(t).times[choice[t]]; };
  const auto all = [=](std::size_t t) { return time_with_transfers(task(t), choice[t]); };
  const char* const in_table = as_run != result.problem ? "in the table" : nullptr;
  const Description<std::size_t> fields({
      {"", "group", [=](std::size_t t) { return task(t).name; }},
      {"", "processor", [&](std::size_t t) { return result.problem.processors[choice[t]].name; }},
      {"", "precision",
       [&](std::size_t t) { return to_text(result.groups[t].variants[choice[t]].precision); }},
      {"", "transfers",
       [=](std::size_t t) {
         return all(t) > time(t) ? Value::time(all(t) - time(t)) : Value::none();
       }},
      {"", "time", time},
      {"", "period", [=](std::size_t t) { return task(t).period; }},
      {"", in_table, [&](std::size_t t) { return as_run.tasks[t].period; }},
      {"", "deadline", [=](std::size_t t) { return task(t).deadline; }},
      {"", "slack", [=](std::size_t t) { return task(t).deadline - all(t); }},
      {"", "utilisation",
       [&](std::size_t t) {
         return Value::share(utilisation(as_run.tasks[t], choice[t]).value());
       }},
  });
  return fields.text(numbers_of(choice));
}

/// The units with their load.
std::string units_text(const product::AdmitResult& result,
                       const explore::AdmissionProblem& as_run) {
  const std::vector<double> loads = loads_of(as_run, result.admission.choice);
  const Description<std::size_t> fields({
      {"", "unit", [&](std::size_t u) { return result.problem.units[u]; }},
      {"", "load", [&](std::size_t u) { return Value::share(loads[u]); }},
      {"", "free", [&](std::size_t u) { return Value::share(std::max(0.0, 1 - loads[u])); }},
  });
  return fields.text(numbers_of(loads));
}

}  // namespace

std::string admission_answer(const product::AdmitResult& result, const std::string& goal) {
  const explore::Admission& admission = result.admission;
  if (!result.fits()) return {};
  const explore::AdmissionProblem as_run = result.as_run();
  std::string text = tasks_text(result, as_run) + "\n" + units_text(result, as_run);
  text += fmt::format("\nfits        on {}, with {} times{}; decided in {}\n", result.board_name,
                      result.modelled ? "modelled" : "measured",
                      result.is_table_lacking ? ", by utilisation only" : "", to_text(result.took));
  if (!result.moved.empty()) text += fmt::format("moved       {}\n", fmt::join(result.moved, ", "));
  if (goal != "any")
    text += fmt::format(
        "{:<12}{:.4g}{}, {}\n", goal == "largest-load" ? "load" : goal, admission.cost,
        goal == "energy" ? " mJ a second" : "",
        admission.is_optimal()
            ? fmt::format("the least {}; {:.4g} without whole numbers",
                          result.stays ? "while what runs stays" : "there is", admission.relaxed)
            : fmt::format("at least {:.4g} is needed", admission.bound));
  if (result.table)
    text += fmt::format(
        "table       {} entries, again every {}{}\n", result.table->entries.size(),
        to_text(result.table->cycle),
        result.table->frame > Time{} ? ", in frames of " + to_text(result.table->frame) : "");
  if (result.refused > 0 && result.table)
    text +=
        fmt::format("            {} that would cost less {} no table\n",
                    result.refused == 1 ? "1 choice" : fmt::format("{} choices", result.refused),
                    result.refused == 1 ? "has" : "have");
  if (result.keeps_table) text += "            each entry of what runs is where it was\n";
  if (result.handed_over)
    text += fmt::format("handed over {} after the start there, after {} to prepare\n",
                        to_text(result.handed_over->at), to_text(result.handed_over->prepared));
  if (result.is_harmonised) text += "            periods are shorter than asked for\n";
  if (result.rounds > 0)
    text += fmt::format("            run {} x to measure the networks beside each other\n",
                        result.rounds);
  if (result.added_utilisation > 0)
    text += fmt::format("            shorter periods add {:.3g} to the utilisation\n",
                        result.added_utilisation);
  return text;
}

std::string admission_refusal(const product::AdmitResult& result) {
  if (!result.misfit && result.admission.answer == explore::Admission::Answer::does_not_fit)
    return "the groups do not fit as long as what runs stays where it is";
  if (!result.misfit)
    return "whether the groups fit is not known: the time for the program ran out; allow more with "
           "⟨search_time⟩";
  std::vector<std::string> names;
  for (std::size_t task : result.misfit->tasks)
    names.push_back(fmt::format("'{}'", result.problem.tasks[task].name));
  const std::string remedies = remedies_text(result.problem, result.misfit->remedies);
  return fmt::format(
      "{}{} not fit on {}{}{}", fmt::join(names, ", "),
      names.size() == 1 ? " does" : " together do", result.board_name,
      remedies.empty() ? "; no single change of a period, a time or a unit helps"
                       : "; each of these would help: " + remedies,
      result.misfit->is_proven
          ? ""
          : "; time ran out for some sets, so that fewer of them may not fit either");
}

std::string played_text(const runtime::Played& played, const product::AdmitResult& result) {
  using runtime::PlayedTask;
  const auto task = [&](std::size_t t) -> const PlayedTask& { return played.tasks[t]; };
  const auto planned = [&](std::size_t t) -> const realtime::TableTask& {
    return result.table_tasks[t];
  };
  const auto count = [=](std::int64_t PlayedTask::*part) {
    return [=](std::size_t t) { return task(t).*part; };
  };
  const Description<std::size_t> fields({
      {"", "group", [=](std::size_t t) { return planned(t).name; }},
      {"", "jobs", [=](std::size_t t) { return task(t).all.jobs; }},
      {"", "overruns", count(&PlayedTask::overruns)},
      {"", "by the host", count(&PlayedTask::disturbed_overruns)},
      {"", "skipped", count(&PlayedTask::skipped)},
      {"", "mean", [=](std::size_t t) { return task(t).all.mean(); }},
      {"", "largest", [=](std::size_t t) { return task(t).all.largest; }},
      {"", "planned", [=](std::size_t t) { return planned(t).worst; }},
      {"", "response", [=](std::size_t t) { return task(t).latest; }},
      {"", "deadline", [=](std::size_t t) { return planned(t).deadline; }},
  });
  std::string text = fields.text(numbers_of(played.tasks)) +
                     fmt::format("\nran         {}", to_text(played.elapsed));
  if (played.stopped) text += ", until the first overrun";
  if (played.stolen > Time{})
    text += fmt::format("; the host took {} of the cores meanwhile", to_text(played.stolen));
  return text + "\n";
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
