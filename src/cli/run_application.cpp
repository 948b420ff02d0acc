// millrace run APPLICATION
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <ostream>

#include "application/sink.h"
#include "base/error.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "cli/application.h"
#include "cli/progress.h"

namespace millrace::cli {
namespace {

using application::Outcome;
using application::Totals;

using Sinks = std::vector<std::unique_ptr<application::Sink>>;
using Write = std::function<void(const std::string&)>;

void print_line(const std::string& line) {
  if (std::fwrite(line.data(), 1, line.size(), stdout) != line.size())
    throw EngineError("standard output cannot be written");
}

/// Results in the place of what they are made from would destroy it.
void check_output(const application::Application& application) {
  const application::Output& output = application.output;
  for (const std::string& path : {output.json, output.images, output.video}) {
    std::error_code ignored;
    if (!path.empty() && std::filesystem::equivalent(path, application.input.path, ignored))
      throw InputError(path, "is the input too; name another place for the results");
  }
}

class Runner {
 public:
  Runner(const LoadedApplication& loaded, const TraceOptions& trace)
      : loaded_(loaded),
        trace_(trace),
        source_(application::open_source(loaded.application, loaded.loaded->network)) {
    check_output(loaded.application);
  }

  Totals run() {
    const application::Output& output = loaded_.application.output;
    if (output.json.empty()) {
      const bool alone = output.images.empty() && output.video.empty();
      return run_into(alone ? Write(print_line) : Write());
    }
    Totals totals;
    write_file(output.json, [&](std::ostream& out) {
      totals = run_into([&out](const std::string& line) { out << line; });
    });
    return totals;
  }

 private:
  Sinks sinks(const Write& json) const {
    const application::Output& output = loaded_.application.output;
    const std::vector<std::string>& labels = loaded_.application.labels;
    const double given = loaded_.application.input.rate_fps;
    Sinks result;
    if (json) result.push_back(application::json_sink(json, labels));
    if (!output.images.empty()) result.push_back(application::picture_sink(output.images, labels));
    if (!output.video.empty())
      result.push_back(
          application::video_sink(output.video, given > 0 ? given : source_->rate_fps(), labels));
    return result;
  }

  Totals run_into(const Write& json) {
    const Sinks sinks = this->sinks(json);
    const Loaded& loaded = *loaded_.loaded;
    const InterruptGuard interrupt;
    auto session = runtime::deploy(loaded.plan, loaded.network, loaded.engine_pointers(),
                                   {.trace_frames = frames_of(trace_)});
    application::Run run(loaded_.application, loaded_.parts(*source_), session,
                         [&](const Outcome& outcome) {
                           for (const auto& sink : sinks) sink->take(outcome);
                         });
    constexpr std::chrono::milliseconds look_up{100};
    while (!run.wait_for(look_up)) end_if_asked(interrupt, run);
    for (const auto& sink : sinks) sink->finish();
    write_trace(trace_, session, loaded.simulated.time_scale);
    return run.totals();
  }

  /// Live input has no end of its own: an interrupt is one, and what came before is kept.
  void end_if_asked(const InterruptGuard& interrupt, application::Run& run) const {
    if (!loaded_.application.input.is_live()) return interrupt.check();
    if (interrupt.take()) run.finish();
  }

  const LoadedApplication& loaded_;
  const TraceOptions& trace_;
  std::unique_ptr<application::Source> source_;
};

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
  if (options.plan.empty() && application.precisions != application::Application{}.precisions)
    note("without --plan the network runs in f32 on one core");
  const Totals totals = Runner(*loaded, trace).run();
  report(*loaded, totals);
  if (!totals.complaint) return 0;
  if (totals.complaint->of_machine)
    throw EngineError(totals.complaint->place + ": " + totals.complaint->text);
  throw InputError(totals.complaint->place, totals.complaint->text);
}

}  // namespace millrace::cli
