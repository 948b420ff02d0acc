// millrace run PLAN|MODEL|APPLICATION
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <optional>

#include "api/application/load.h"
#include "api/frames.h"
#include "api/lines_file.h"
#include "api/load_runnable.h"
#include "api/progress.h"
#include "api/simulated_board.h"
#include "api/trace.h"
#include "api/written_over.h"
#include "application/application_file.h"
#include "base/error.h"
#include "base/interrupt.h"
#include "cli/options/frames.h"
#include "cli/options/runnable.h"
#include "cli/print/results.h"
#include "cli/verbs/application.h"
#include "cli/verbs/verbs.h"
#include "network/evaluate/evaluate.h"
#include "runtime/session.h"

namespace millrace::cli {

using namespace api;

namespace {

struct RunCommandOptions {
  RunnableOptions runnable;
  FrameOptions frames;
  ApplicationOptions application;
  std::string output, labels;
  TraceOptions trace;
};

void bind(CLI::App& verb, RunCommandOptions& options) {
  bind_runnable(verb, options.runnable);
  bind_frames(verb, options.frames);
  bind_application(verb, options.application);
  verb.add_option("-o,--output", options.output,
                  "Results as JSON lines or, for a name ending in .npy, the raw output; a file "
                  "for each output (NAME.OUTPUT.npy) if there are several");
  verb.add_option("--labels", options.labels, "One class number per line: prints the accuracy");
  bind_time_scale(verb, options.runnable);
  bind_trace(verb, options.trace);
}

struct FrameTotals {
  std::int64_t frames = 0, right = 0;
  Time elapsed{};
  bool finite = true;  // no output held NaN or infinity
  bool interrupted = false;
};

bool is_finite(const network::Array& output) {
  if (output.type != network::DataType::float32 && output.type != network::DataType::float16)
    return true;
  const network::Array real = network::converted(output, network::DataType::float32);
  const auto values = real.values<float>();
  return std::all_of(values.begin(), values.end(), [](float v) { return std::isfinite(v); });
}

using Handler = std::function<void(const std::string& source, const runtime::Result& result)>;

/// Frames on their way into a session, made one ahead of what it takes.
class Feeder {
 public:
  Feeder(runtime::Session& session, const Frames& frames) : session_(session), frames_(frames) {}

  /// As many frames as the session takes now.
  void fill() {
    for (; submitted_ < frames_.count; ++submitted_) {
      if (!ready_) ready_ = frames_.at(submitted_);
      if (!session_.submit_unless_result(ready_->inputs)) return;
      names_.push_back(std::move(ready_->name));
      ready_.reset();
    }
  }
  std::string take_name() {
    std::string name = std::move(names_.front());
    names_.pop_front();
    return name;
  }

 private:
  runtime::Session& session_;
  const Frames& frames_;
  std::size_t submitted_ = 0;
  std::optional<Frame> ready_;
  std::deque<std::string> names_;
};

/// All frames through the session, results handed on in order, until the end or an interrupt.
FrameTotals pump(runtime::Session& session, const Frames& frames, const Handler& handle) {
  const InterruptGuard interrupt;
  Progress progress("running");
  FrameTotals totals;
  Feeder feeder(session, frames);
  const auto start = std::chrono::steady_clock::now();
  for (std::size_t received = 0; received < frames.count && !totals.interrupted; ++received) {
    feeder.fill();
    const auto result = session.next();
    if (!result) throw EngineError("the pipeline ended before all frames came out");
    totals.finite =
        totals.finite && std::all_of(result->outputs.begin(), result->outputs.end(), is_finite);
    handle(feeder.take_name(), *result);
    ++totals.frames;
    totals.interrupted = interrupt.take();
    progress.show(static_cast<double>(received) / static_cast<double>(frames.count),
                  fmt::format("{} of {} frames", received, frames.count));
  }
  totals.elapsed = std::chrono::steady_clock::now() - start;
  return totals;
}

/// Where results go, and how many of them were right.
class Output {
 public:
  Output(const Loaded& loaded, const RunCommandOptions& options, std::size_t frames)
      : loaded_(loaded), path_(options.output), is_array_(path_.ends_with(".npy")) {
    if (is_array_) arrays_.resize(loaded.network.outputs.size());
    if (options.labels.empty()) return;
    labels_ = read_labels(options.labels);
    if (labels_.size() != frames)
      throw InputError(options.labels, fmt::format("holds {} labels for {} frames; expected one "
                                                   "per frame, in the same order",
                                                   labels_.size(), frames));
  }

  /// Lines are kept as far as they came, also if an error or an interrupt ends them.
  FrameTotals run(runtime::Session& session, const Frames& frames) {
    std::optional<LinesFile> file;
    if (!path_.empty() && !is_array_) file.emplace(path_);
    FrameTotals totals;
    try {
      totals = pump(session, frames, [&](const std::string& source, const runtime::Result& result) {
        take(source, result, file ? &*file : nullptr);
      });
    } catch (...) {
      if (file) file->keep();
      if (file && file->lines() > 0)
        note(fmt::format("kept: {} lines in {}", file->lines(), path_));
      throw;
    }
    if (file) file->keep();
    if (totals.interrupted) throw EngineError(interrupted_text(totals.frames, file.has_value()));
    if (is_array_) write_arrays();
    totals.right = right_;
    return totals;
  }
  bool has_labels() const { return !labels_.empty(); }

 private:
  void take(const std::string& source, runtime::Result result, LinesFile* lines) {
    result.latency = board_time(result.latency, loaded_);
    if (has_labels() && top_class(result) == labels_[static_cast<std::size_t>(result.frame)])
      ++right_;
    if (is_array_)
      for (std::size_t i = 0; i < arrays_.size(); ++i) arrays_[i].add(result.outputs[i]);
    else if (lines != nullptr)
      lines->write(json_line(loaded_.network, source, result));
    else if (!has_labels())
      out_.write(json_line(loaded_.network, source, result));
  }

  void write_arrays() const {
    const std::vector<std::string> files = output_files(loaded_.network, path_);
    for (std::size_t i = 0; i < arrays_.size(); ++i) arrays_[i].write(files[i]);
    if (files.size() > 1)
      note(fmt::format("{} has {} outputs, one file for each: {}", loaded_.network.name,
                       files.size(), fmt::join(files, ", ")));
  }

  std::string interrupted_text(std::int64_t frames, bool is_file) const {
    if (is_array_ || has_labels()) return "interrupted; no result was written";
    return fmt::format("interrupted after {} frames; kept: their lines {}", frames,
                       is_file ? "in " + path_ : "on standard output");
  }

  const Loaded& loaded_;
  std::string path_;
  bool is_array_;
  std::vector<std::int64_t> labels_;
  std::vector<OutputArray> arrays_;  // by output
  LinesOut out_{false};
  std::int64_t right_ = 0;
};

/// What only models and plans take would be passed over in silence.
int run_as_application(const RunCommandOptions& options) {
  if (!options.frames.inputs.empty() || options.frames.random > 0 || !options.labels.empty() ||
      !options.runnable.network.empty())
    throw InputError(options.runnable.model.model,
                     "is an application, which says its own network, input and labels; leave out "
                     "--model, --input, --random and --labels");
  return run_application(options.runnable, options.application, options.output, options.trace);
}

FilesRead files_read_by(const RunCommandOptions& options) {
  FilesRead files;
  files.add(options.runnable);
  files.add(options.frames);
  files.add("file of labels", options.labels);
  files.refuse(options.output);
  files.refuse(options.trace.file);
  return files;
}

int run(const RunCommandOptions& options) {
  check_trace(options.trace, options.runnable);
  if (application::is_application_file(options.runnable.model.model))
    return run_as_application(options);
  refuse_application_options(options.application, options.runnable.model.model);
  FilesRead files = files_read_by(options);
  const auto loaded = load_runnable(options.runnable);
  if (options.output.ends_with(".npy") && loaded->network.outputs.size() > 1)
    for (const std::string& file : output_files(loaded->network, options.output))
      files.refuse(file);
  note_simulation(*loaded);
  const Frames frames = open_frames(loaded->network, options.frames, options.runnable.model.seed);
  if (options.frames.inputs.empty()) note("inputs are random");
  Output output(*loaded, options, frames.count);
  auto session = deploy(*loaded, loaded->plan, options.runnable.model.model,
                        {.trace_frames = frames_of(options.trace)});
  FrameTotals totals = output.run(session, frames);
  totals.elapsed = board_time(totals.elapsed, *loaded);
  if (output.has_labels())
    fmt::print("accuracy: {} of {} frames, {:.2f} %\n", totals.right, totals.frames,
               100.0 * static_cast<double>(totals.right) / static_cast<double>(totals.frames));
  write_trace(options.trace, session, loaded->simulated.time_scale);
  note_late_stages(*loaded);
  if (!totals.finite) note("warning: some outputs are infinite or not a number");
  note(fmt::format("{} frames in {}, {:.1f} frames/s, reading the inputs included; {}",
                   totals.frames, millrace::to_text(totals.elapsed),
                   static_cast<double>(totals.frames) / seconds(totals.elapsed),
                   loaded->plan.stages.size() == 1
                       ? "one stage"
                       : fmt::format("{} stages", loaded->plan.stages.size())));
  return 0;
}

}  // namespace

void add_run(CLI::App& app, int& exit_code) {
  add_verb<RunCommandOptions>(
      app, exit_code,
      {{"run",
        "Run a plan, or a model on one processor, on images, arrays or random "
        "frames; or an application (.yaml) on what it names",
        "millrace run digits.plan.json --input images/ --output results.jsonl"},
       bind,
       run});
}

}  // namespace millrace::cli
