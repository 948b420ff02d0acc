// millrace plan SYSTEM --method admission
#include "cli/verbs/systems.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "base/error.h"
#include "base/file.h"
#include "base/printable.h"
#include "cli/print/progress.h"
#include "cli/verbs/run_deployment.h"
#include "cli/verbs/verbs.h"
#include "present/results/admission.h"
#include "product/admission/admitted.h"
#include "product/admission/answer_file.h"
#include "product/written_over.h"
#include "system/system_file.h"

namespace millrace::cli {
namespace {

const std::map<std::string, explore::AdmissionGoal> goals{
    {"any", explore::AdmissionGoal::any},
    {"utilisation", explore::AdmissionGoal::total_utilisation},
    {"largest-load", explore::AdmissionGoal::largest_load},
    {"energy", explore::AdmissionGoal::energy}};

const std::map<std::string, runtime::Overrun> overruns{{"finish", runtime::Overrun::finish},
                                                       {"skip", runtime::Overrun::skip},
                                                       {"stop", runtime::Overrun::stop}};

/// Runs the table; whether every job ended in time. With --json the answer is printed after it.
bool run_table(const AdmitOptions& options, const product::AdmitRequest& request,
               const product::AdmitResult& result) {
  const product::PlayedAdmission played = product::play_admitted(
      result, request, {time_from_seconds(options.run_s), overruns.at(options.overrun)});
  if (!options.json) fmt::print("\n");
  return print_played(result, played, options.json);
}

void write_results(const AdmitOptions& options, const product::AdmitResult& result) {
  if (options.gantt.empty() && options.header.empty()) return;
  if (!result.table) {
    note("there is no static table to write");
    return;
  }
  const auto& units = result.problem.units;
  if (!options.gantt.empty())
    write_file(options.gantt,
               present::static_table_gantt(*result.table, result.table_tasks, units));
  if (!options.header.empty())
    write_file(options.header, present::static_table_cpp(*result.table, result.table_tasks, units));
}

}  // namespace

void bind_admit(Places& at, AdmitOptions& options) {
  product::AdmitRequest& request = options.request;
  at.put("goal", options.goal).put("scenario", request.scenario).put("beside", request.running);
  at.put("into", options.into).put("kinds", options.kinds).put("margin", request.margin);
  at.put("reserved-cores", request.elements.reserved_cores).put("together", options.together_s);
  at.put("weight", options.weights).put("harmonise", options.harmonise);
  at.put("keep-periods", options.keep_periods).put("no-table", options.no_table);
  at.put("run", options.run_s).put("overrun", options.overrun);
  at.put("gantt", options.gantt).put("cpp", options.header);
}

int run_admit(const AdmitOptions& options) {
  product::FilesRead files;
  files.add(system::read_system(options.request.system));
  files.add("board file", options.request.board);
  files.add("admission", options.request.running);
  files.add(options.request.context);
  files.refuse_unwritable({options.gantt, options.header});
  product::AdmitRequest request = options.request;
  request.elements.kinds = {options.kinds.begin(), options.kinds.end()};
  request.admission.goal = goals.at(options.goal);
  request.table = !options.no_table;
  if (options.harmonise) request.periods = explore::TablePeriods::harmonised;
  if (options.keep_periods) request.periods = explore::TablePeriods::as_given;
  if (options.together_s) request.together = time_from_seconds(*options.together_s);
  attach_terminal(request.context);
  for (const std::string& text : options.weights) product::add_weight(text, request.weights);
  if (!request.weights.empty() && options.goal != "utilisation")
    throw InputError("--weight", "is of utilisations; leave out --goal " + options.goal);
  const product::AdmitResult result =
      options.into.empty() ? product::admit(request) : product::admit_into(request, options.into);
  const bool runs = result.fits() && options.run_s > 0;
  if (!options.json)
    show(printable_lines(
        present::admission_answer(result, request.weights.empty() ? options.goal : "weighted")));
  else if (!runs || !result.table)
    show(product::admission_json(result));
  if (!result.no_table.empty()) note(result.no_table);
  write_results(options, result);
  if (runs) return run_table(options, request, result) ? 0 : answer_is_no;
  if (result.fits()) return result.is_table_lacking ? answer_is_no : 0;
  note(present::admission_refusal(result));
  return answer_is_no;
}

}  // namespace millrace::cli
