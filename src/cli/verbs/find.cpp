// millrace detect|classify|segment|pose|read MODEL SOURCE
#include "product/application/find.h"

#include <fmt/format.h>

#include "base/printable.h"
#include "cli/options/request.h"
#include "cli/print/progress.h"
#include "cli/verbs/application.h"
#include "cli/verbs/verbs.h"

namespace millrace::cli {
namespace {

template <product::FindTask task>
void bind(Places& at, product::FindRequest& request) {
  request.task = task;
  bind_model(at, request.runnable.model);
  at.word("SOURCE", request.source,
          "A picture, a folder of pictures, a video, or a camera: its number, device or address")
      ->required();
  at.put("output", request.folder).put("application", request.application);
  at.put("labels", request.labels).put("frames", request.frames);
  if constexpr (task != product::FindTask::classify && task != product::FindTask::read)
    at.put("head", request.head).put("threshold", request.threshold);
  if constexpr (task == product::FindTask::read) at.put("alphabet", request.alphabet);
  bind_processors(at, request.runnable.model);
}

int run(const product::FindRequest& asked, const CLI::App&) {
  product::FindRequest request = asked;
  request.line = [](const std::string& line) { fmt::print("{}\n", printable(line)); };
  const product::ApplicationTotals totals = find(request);
  if (!request.application.empty()) {
    note(fmt::format("written: {0}; next: millrace run {0}", request.application));
    return 0;
  }
  const int code = report(totals);
  note(fmt::format("{} frames; results are in '{}'", totals.totals.frames, request.folder));
  return code;
}

}  // namespace

void add_detect(CLI::App& app, int& exit_code) {
  constexpr auto task = product::FindTask::detect;
  add_verb<product::FindRequest>(app, exit_code, {"detect", bind<task>, run});
}

void add_classify(CLI::App& app, int& exit_code) {
  constexpr auto task = product::FindTask::classify;
  add_verb<product::FindRequest>(app, exit_code, {"classify", bind<task>, run});
}

void add_segment(CLI::App& app, int& exit_code) {
  constexpr auto task = product::FindTask::segment;
  add_verb<product::FindRequest>(app, exit_code, {"segment", bind<task>, run});
}

void add_pose(CLI::App& app, int& exit_code) {
  constexpr auto task = product::FindTask::pose;
  add_verb<product::FindRequest>(app, exit_code, {"pose", bind<task>, run});
}

void add_read(CLI::App& app, int& exit_code) {
  constexpr auto task = product::FindTask::read;
  add_verb<product::FindRequest>(app, exit_code, {"read", bind<task>, run});
}

}  // namespace millrace::cli
