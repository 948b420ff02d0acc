// millrace run APPLICATION
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <set>

#include "api/application/load.h"
#include "api/application/results.h"
#include "api/progress.h"
#include "api/written_over.h"
#include "application/image_file.h"
#include "base/error.h"
#include "base/interrupt.h"
#include "cli/verbs/application.h"
#include "cli/verbs/verbs.h"

namespace millrace::cli {

using namespace api;

namespace {

using application::Outcome;
using application::Totals;

/// One way through all frames. However it ends, what came out until then is kept.
class Runner {
 public:
  Runner(const LoadedApplication& loaded, const TraceOptions& trace)
      : loaded_(loaded),
        trace_(trace),
        source_(application::open_source(loaded.application, loaded.loaded->network)),
        results_(loaded.application, rate_of(loaded.application.input)) {}

  Totals run() {
    const Loaded& loaded = *loaded_.loaded;
    const InterruptGuard interrupt;
    auto session = deploy(loaded, loaded.plan, loaded_.application.file,
                          {.trace_frames = frames_of(trace_)});
    application::Run run(loaded_.application, parts(), session,
                         [&](const Outcome& outcome) { results_.take(outcome); });
    try {
      wait(interrupt, run);
    } catch (...) {
      keep_in_spite_of_an_error();
      throw;
    }
    results_.keep(patience);
    write_trace(trace_, session, loaded.simulated.time_scale);
    if (asked_ && !loaded_.application.input.is_live()) throw EngineError(interrupted_text());
    return run.totals();
  }
  std::int64_t skipped() const { return skipped_; }

 private:
  static constexpr std::chrono::milliseconds patience{200};

  double rate_of(const application::Input& input) const {
    return input.rate_fps > 0 ? input.rate_fps : source_->rate_fps();
  }

  application::Parts parts() {
    const application::Input& input = loaded_.application.input;
    application::Parts parts = loaded_.parts(*source_);
    std::error_code ignored;
    if (input.kind == application::InputKind::images &&
        input.on_error == application::OnError::skip &&
        std::filesystem::is_directory(input.path, ignored))
      parts.skip = [this](const InputError& error) {
        ++skipped_;
        note(fmt::format("skipped: {}", error.what()));
      };
    return parts;
  }

  /// After an interrupt no more frames are taken, and those on their way have a second.
  void wait(const InterruptGuard& interrupt, application::Run& run) {
    constexpr std::chrono::milliseconds look_up{100};
    constexpr std::chrono::seconds grace{1};
    while (!run.wait_for(look_up)) {
      const auto now = std::chrono::steady_clock::now();
      if (!asked_ && interrupt.take()) {
        asked_ = now;
        run.finish();
      }
      if (asked_ && now - *asked_ > grace) leave();
    }
  }

  /// A thread that hangs in a source or a processing cannot be joined, so nothing is.
  [[noreturn]] void leave() {
    int code = loaded_.application.input.is_live() ? 0 : machine_failed;
    std::string text;
    try {
      const bool kept = results_.keep(patience);
      text = kept ? interrupted_text() : "interrupted while a result was being written";
      if (kept) std::fflush(stdout);
      if (!kept) code = machine_failed;
    } catch (const std::exception& error) {
      text = error.what();
      code = machine_failed;
    }
    note(fmt::format("millrace: {}; frames on their way did not come out in time", text));
    std::_Exit(code);
  }

  /// The first error is the one that is reported.
  void keep_in_spite_of_an_error() {
    try {
      results_.keep(patience);
    } catch (const std::exception& error) {
      note(error.what());
    }
    if (results_.frames() > 0) note("kept: " + results_.kept_text());
  }

  std::string interrupted_text() const {
    if (results_.frames() == 0) return "interrupted; no result was written";
    return fmt::format("interrupted after {} frames; kept: {}", results_.frames(),
                       results_.kept_text());
  }

  const LoadedApplication& loaded_;
  const TraceOptions& trace_;
  std::unique_ptr<application::Source> source_;
  ApplicationResults results_;
  std::atomic<std::int64_t> skipped_{0};
  std::optional<std::chrono::steady_clock::time_point> asked_;  // to end
};

/// Files beside the pictures that nobody would miss otherwise.
void note_passed_over(const application::Input& input) {
  std::error_code error;
  if (input.kind != application::InputKind::images ||
      !std::filesystem::is_directory(input.path, error))
    return;
  std::set<std::string> endings;
  int files = 0;
  for (auto entry = std::filesystem::directory_iterator(input.path, error);
       !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    const std::filesystem::path name = entry->path().filename();
    if (application::is_image_name(name) || name.string().starts_with('.') ||
        !entry->is_regular_file(error))
      continue;
    ++files;
    endings.insert(name.extension().string());
  }
  if (files > 0)
    note(fmt::format("{} {} in '{}' {} left out: {} no ending of a picture that is read ({})",
                     files, files == 1 ? "file" : "files", input.path, files == 1 ? "is" : "are",
                     files == 1 ? "it has" : "they have", fmt::join(endings, ", ")));
}

/// Before anything is written.
void refuse_results_over(const application::Application& application,
                         const ApplicationOptions& options, const TraceOptions& trace) {
  FilesRead files;
  files.add(application);
  files.add("plan", options.plan);
  for (const std::string& plugin : options.plugins) files.add("plug-in", plugin);
  files.refuse(application.output);
  files.refuse(trace.file);
}

/// What frames spent their time with, in one line.
std::string steps_text(const application::Totals& totals) {
  const application::StepTimes& times = totals.times;
  const auto each = [&](Time time) {
    return millrace::to_text(totals.frames > 0 ? time / totals.frames : Time{});
  };
  return fmt::format(
      "per frame {} reading, {} pre-processing, {} in the stages, {} post-processing, {} waiting "
      "between them",
      each(times.reading), each(times.before), each(times.pipeline), each(times.after),
      each(times.waiting()));
}

void report(const LoadedApplication& loaded, const Totals& totals) {
  note(fmt::format("{} frames in {}, {:.1f} frames/s; {}", totals.frames,
                   millrace::to_text(totals.elapsed),
                   static_cast<double>(totals.frames) / std::max(1e-9, seconds(totals.elapsed)),
                   steps_text(totals)));
  const runtime::QueueCounts& queue = totals.queue;
  if (loaded.application.input.is_live())
    note(fmt::format("{} frames came, {} of them were dropped; at most {} waited", queue.put,
                     queue.dropped, queue.most));
}

}  // namespace

int run_application(const RunnableOptions& runnable, const ApplicationOptions& options,
                    const std::string& json, const TraceOptions& trace) {
  const auto loaded = load_application(runnable, options);
  application::Output& output = loaded->application.output;
  if (!json.empty()) output.json = json;
  const application::Application& application = loaded->application;
  refuse_results_over(application, options, trace);
  note_passed_over(application.input);
  if (options.plan.empty() && application.precisions != application::Application{}.precisions)
    note("without --plan the network runs in f32 on one core");
  Runner runner(*loaded, trace);
  const Totals totals = runner.run();
  report(*loaded, totals);
  const std::int64_t skipped = runner.skipped();
  if (skipped > 0)
    note(fmt::format("{} of {} pictures were skipped, as they cannot be decoded", skipped,
                     totals.frames + skipped));
  if (!totals.complaint) return skipped > 0 ? answer_is_no : 0;
  if (totals.complaint->of_machine)
    throw EngineError(totals.complaint->place + ": " + totals.complaint->text);
  throw InputError(totals.complaint->place, totals.complaint->text);
}

}  // namespace millrace::cli
