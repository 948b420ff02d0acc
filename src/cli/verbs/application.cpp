// millrace run APPLICATION, millrace bench APPLICATION
#include "cli/verbs/application.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "application/bench/bench.h"
#include "application/loaded/measured_accuracy.h"
#include "base/file.h"
#include "base/process/signals.h"
#include "base/printable.h"
#include "cli/print/progress.h"
#include "cli/verbs/verbs.h"
#include "present/results/accuracy.h"
#include "present/results/application.h"
#include "product/application/run.h"
#include "product/written_over.h"

namespace millrace::cli {
namespace {

[[noreturn]] void leave(const std::string& text, bool failed) {
  note("millrace: " + text);
  std::_Exit(failed ? machine_failed : 0);
}

bool is_equal(const application::ApplicationResult& result) {
  return std::all_of(result.rows.begin(), result.rows.end(),
                     [](const application::ApplicationRow& row) { return row.differing.empty(); });
}

}  // namespace

int report(const product::ApplicationTotals& run) {
  for (const std::string& line : present::summary_of(run)) note(line);
  product::check_complaint(run.totals);
  return run.skipped > 0 ? answer_is_no : 0;
}

int run_application(const product::RunnableOptions& runnable,
                    const product::ApplicationOptions& options,
                    const ApplicationRunOptions& run_options) {
  const product::ApplicationTotals run =
      run_application(runnable, options, {run_options.output, run_options.trace, leave, {},
                                          run_options.observer,
                                          [asked = count_user_signals()] { return asked() > 0; }});
  const int code = report(run);
  if (run.accuracy) application::note_left_out(*run.accuracy, runnable.model.context);
  if (run_options.json)
    show(present::run_json(run));
  else if (run.accuracy)
    show(printable_lines(present::accuracy_text(*run.accuracy)));
  return code;
}

int bench_application(const product::RunnableOptions& runnable,
                      const product::ApplicationOptions& options,
                      const ApplicationBenchOptions& bench_options) {
  const auto loaded = load_application(runnable, options);
  product::FilesRead files;
  files.add(loaded->application);
  files.add(options);
  files.add(runnable.model.context);
  files.refuse_unwritable({bench_options.svg});
  plan_here(*loaded);
  const application::ApplicationResult result = bench_application(*loaded, bench_options.rounds);
  if (!bench_options.svg.empty())
    write_file(bench_options.svg,
               present::waterfall_svg(present::waterfall_of(result),
                                      fmt::format("{}: frames per second", result.application)));
  show(bench_options.json ? present::application_json(result)
                          : printable_lines(present::application_text(result)));
  return is_equal(result) ? 0 : answer_is_no;
}

}  // namespace millrace::cli
