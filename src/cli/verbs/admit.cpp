// millrace admit SYSTEM
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "api/admission/admitted.h"
#include "api/json/admission.h"
#include "api/text/admission.h"
#include "api/written_over.h"
#include "base/error.h"
#include "base/file.h"
#include "base/printable.h"
#include "cli/options/common.h"
#include "cli/options/duration.h"
#include "cli/options/range_check.h"
#include "cli/print/progress.h"
#include "cli/verbs/run_deployment.h"
#include "cli/verbs/verbs.h"
#include "report/admission.h"
#include "system/system_file.h"

namespace millrace::cli {

namespace {

struct AdmitOptions {
  api::AdmitRequest request;
  std::vector<std::string> kinds, weights;
  std::string goal = "utilisation", gantt, header, into, overrun = "finish";
  double run_s = 0;
  std::optional<double> together_s;
  bool json = false, no_table = false, harmonise = false, keep_periods = false;
};

const std::map<std::string, explore::AdmissionGoal> goals{
    {"any", explore::AdmissionGoal::any},
    {"utilisation", explore::AdmissionGoal::total_utilisation},
    {"largest-load", explore::AdmissionGoal::largest_load},
    {"energy", explore::AdmissionGoal::energy}};

void bind_times(CLI::App& verb, AdmitOptions& options) {
  api::AdmitRequest& request = options.request;
  begin_group(verb, "Board and times");
  verb.add_option("--board", request.board, "A board file or a shipped board, not the system's");
  verb.add_option("--engine", request.engine, "To measure with on this machine");
  verb.add_option("--kinds", options.kinds,
                  "Use only these kinds of silicon: cpu, npu, gpu.UNIT; with '.alone' or "
                  "'.together' one part at a time, or all at once")
      ->delimiter(',');
  verb.add_option("--reserved-cores", request.elements.reserved_cores,
                  "Cores of each CPU that are kept for the system and for feeding accelerators")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  verb.add_option("--margin", request.margin,
                  "Modelled times, of a board file, are multiplied by it")
      ->check(CLI::Range(1.0, 100.0))
      ->default_str("1.2");
}

void bind(CLI::App& verb, AdmitOptions& options) {
  api::AdmitRequest& request = options.request;
  verb.add_option("system", request.system, "A system file")->required();
  verb.add_option("--scenario", request.scenario, "Its groups only; without: all at once");
  CLI::Option* beside = verb.add_option(
      "--beside", request.running,
      "What runs already, as --json wrote it: do the system's groups fit beside it");
  CLI::Option* into =
      verb.add_option("--into", options.into, "A process, or its socket, that runs such an answer")
          ->excludes(beside);
  bind_times(verb, options);
  verb.add_option("--together", options.together_s,
                  "Seconds for which the table is run here, again until no time in it grows")
      ->transform(in_seconds())
      ->check(between(0.0, 86400.0))
      ->default_str("3");
  begin_group(verb, "Decision");
  verb.add_option("--goal", options.goal, "What is to be least")
      ->check(CLI::IsMember({"any", "utilisation", "largest-load", "energy"}))
      ->capture_default_str();
  verb.add_option("--weight", options.weights,
                  "GROUP=W: the utilisation of this group counts W times in the goal (repeatable)");
  verb.add_option("--time-limit", request.admission.seconds, "Seconds on the clock to decide")
      ->check(CLI::Range(0.01, 1e6))
      ->capture_default_str();
  CLI::Option* shorter = verb.add_flag("--harmonise", options.harmonise,
                                       "Shorten periods so that each divides the next");
  verb.add_flag("--keep-periods", options.keep_periods, "Never shorten periods")->excludes(shorter);
  CLI::Option* no_table =
      verb.add_flag("--no-table", options.no_table, "Do not make a static table");
  begin_group(verb, "Running");
  CLI::Option* run =
      verb.add_option("--run", options.run_s, "Seconds to run the static table on this machine")
          ->transform(in_seconds())
          ->check(between(0.001, 1e6))
          ->excludes(no_table, into);
  verb.add_option("--overrun", options.overrun, "What happens to jobs that follow a late one")
      ->check(CLI::IsMember({"finish", "skip", "stop"}))
      ->capture_default_str()
      ->needs(run);
  begin_group(verb, "Output");
  verb.add_option("--gantt", options.gantt, "Draw the static table into this SVG file")
      ->excludes(no_table);
  verb.add_option("--cpp", options.header, "Write the static table as a C++ header")
      ->excludes(no_table);
  bind_json(verb, options.json);
}

const std::map<std::string, runtime::Overrun> overruns{{"finish", runtime::Overrun::finish},
                                                       {"skip", runtime::Overrun::skip},
                                                       {"stop", runtime::Overrun::stop}};

/// Runs the table; whether every job ended in time. With --json the answer is printed after it.
bool run_table(const AdmitOptions& options, const api::AdmitRequest& request,
               const api::AdmitResult& result) {
  const api::PlayedAdmission played = api::play_admitted(
      result, request, {time_from_seconds(options.run_s), overruns.at(options.overrun)});
  if (!options.json) fmt::print("\n");
  return print_played(result, played, options.json);
}

void write_results(const AdmitOptions& options, const api::AdmitResult& result) {
  if (options.gantt.empty() && options.header.empty()) return;
  if (!result.table) {
    note("there is no static table to write");
    return;
  }
  const auto& units = result.problem.units;
  if (!options.gantt.empty())
    write_file(options.gantt, report::static_table_gantt(*result.table, result.table_tasks, units));
  if (!options.header.empty())
    write_file(options.header, report::static_table_cpp(*result.table, result.table_tasks, units));
}

int run(const AdmitOptions& options) {
  api::FilesRead files;
  files.add(system::read_system(options.request.system));
  files.add("board file", options.request.board);
  files.add("admission", options.request.running);
  files.add(options.request.context);
  files.refuse_unwritable({options.gantt, options.header});
  api::AdmitRequest request = options.request;
  request.elements.kinds = {options.kinds.begin(), options.kinds.end()};
  request.admission.goal = goals.at(options.goal);
  request.table = !options.no_table;
  if (options.harmonise) request.periods = explore::TablePeriods::harmonised;
  if (options.keep_periods) request.periods = explore::TablePeriods::as_given;
  if (options.together_s) request.together = time_from_seconds(*options.together_s);
  attach_terminal(request.context);
  for (const std::string& text : options.weights) api::add_weight(text, request.weights);
  if (!request.weights.empty() && options.goal != "utilisation")
    throw InputError("--weight", "is of utilisations; leave out --goal " + options.goal);
  const api::AdmitResult result =
      options.into.empty() ? api::admit(request) : api::admit_into(request, options.into);
  const bool runs = result.fits() && options.run_s > 0;
  if (!options.json)
    fmt::print("{}", printable_lines(api::admission_answer(
                         result, request.weights.empty() ? options.goal : "weighted")));
  else if (!runs || !result.table)
    fmt::print("{}", api::admission_json(result));
  if (!result.no_table.empty()) note(result.no_table);
  write_results(options, result);
  if (runs) return run_table(options, request, result) ? 0 : answer_is_no;
  if (result.fits()) return result.is_table_lacking ? answer_is_no : 0;
  note(api::admission_refusal(result));
  return answer_is_no;
}

}  // namespace

void add_admit(CLI::App& app, int& exit_code) {
  add_verb<AdmitOptions>(
      app, exit_code,
      {{"admit", "Which variant of which network on which processor: does the set fit",
        "millrace admit car.yaml --board jetson-agx-xavier"},
       bind,
       run});
}

}  // namespace millrace::cli
