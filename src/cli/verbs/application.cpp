// millrace run APPLICATION, millrace bench APPLICATION
#include "cli/verbs/application.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "api/application/accuracy.h"
#include "api/application/bench.h"
#include "api/application/run.h"
#include "api/json/application.h"
#include "api/json/measured.h"
#include "api/text/accuracy.h"
#include "api/text/application.h"
#include "api/written_over.h"
#include "base/file.h"
#include "base/printable.h"
#include "cli/print/progress.h"
#include "cli/verbs/verbs.h"

namespace millrace::cli {
namespace {

[[noreturn]] void leave(const std::string& text, bool failed) {
  note("millrace: " + text);
  std::_Exit(failed ? machine_failed : 0);
}

bool is_equal(const api::ApplicationResult& result) {
  return std::all_of(result.rows.begin(), result.rows.end(),
                     [](const api::ApplicationRow& row) { return row.differing.empty(); });
}

}  // namespace

void note_not_finite(const std::string& frame, const std::string& layer, bool outputs_are_finite) {
  if (!frame.empty())
    note("warning: some inputs are infinite or not a number, first in " + frame +
         "; not every engine passes that on to the outputs, so do not trust these");
  if (!layer.empty())
    note("warning: the layer " + layer + " makes what is not a number (NaN); do not trust outputs");
  if (!outputs_are_finite) note("warning: some outputs are infinite or not a number");
}

int run_application(const api::RunnableOptions& runnable, const api::ApplicationOptions& options,
                    const ApplicationRunOptions& run_options) {
  const api::ApplicationTotals run =
      run_application(runnable, options, {run_options.output, run_options.trace, leave});
  for (const std::string& line : summary_of(run)) note(line);
  note_not_finite(run.totals.not_finite_input, run.nan_layer, run.totals.finite);
  if (run.skipped > 0)
    note(fmt::format("{} of {} pictures were skipped, as they cannot be decoded", run.skipped,
                     run.totals.frames + run.skipped));
  api::check_complaint(run.totals);
  if (run.accuracy) api::note_left_out(*run.accuracy, runnable.model.context);
  if (run_options.json)
    fmt::print("{}", run_json(run));
  else if (run.accuracy)
    fmt::print("{}", printable_lines(api::accuracy_text(*run.accuracy)));
  return run.skipped > 0 ? answer_is_no : 0;
}

int bench_application(const api::RunnableOptions& runnable, const api::ApplicationOptions& options,
                      const ApplicationBenchOptions& bench_options) {
  const auto loaded = load_application(runnable, options);
  api::FilesRead files;
  files.add(loaded->application);
  files.add(options);
  files.add(runnable.model.context);
  files.refuse_unwritable({bench_options.svg});
  const api::ApplicationResult result = bench_application(*loaded, bench_options.rounds);
  if (!bench_options.svg.empty())
    write_file(bench_options.svg,
               report::waterfall_svg(waterfall_of(result),
                                     fmt::format("{}: frames per second", result.application)));
  fmt::print("{}", bench_options.json ? application_json(result)
                                      : printable_lines(api::application_text(result)));
  return is_equal(result) ? 0 : answer_is_no;
}

}  // namespace millrace::cli
