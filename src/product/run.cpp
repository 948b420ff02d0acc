#include "product/run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <functional>

#include "application/batching.h"
#include "base/error.h"
#include "base/files/lines_file.h"
#include "base/interrupt.h"
#include "formats/random_weights.h"
#include "network/evaluate/nan_layer.h"
#include "network/finite.h"
#include "plan/steps.h"
#include "product/open_model.h"
#include "product/planning/plan_here.h"
#include "product/results.h"
#include "product/written_over.h"
#include "runtime/loaded/clocks.h"
#include "runtime/loaded/lasting_session.h"
#include "runtime/loaded/simulated_stages.h"
#include "schedule/read_plan.h"

namespace millrace::product {
namespace {

/// Measuring takes about as long as so many frames, and planning as these.
constexpr std::size_t worth_measuring = 30, worth_planning = 300;

using Handler = std::function<void(const std::string& source, const runtime::Result& result)>;

/// Frames, and how many of them the network takes at once: pictures of a batch.
struct Batches {
  application::Frames frames;
  std::int64_t batch = 1;
};

/// Frames on their way into a session, made one submission ahead of what it takes.
class Feeder {
 public:
  Feeder(runtime::LastingSession& session, const Batches& batches)
      : session_(session), batches_(batches) {}

  /// As many frames as the session takes now. The last batch may be smaller; it is filled up.
  void fill() {
    const application::Frames& frames = batches_.frames;
    while (submitted_ < frames.count) {
      if (!ready_) make_ready();
      if (!session_.submit_unless_result(ready_->inputs)) return;
      submitted_ += ready_->names.size();
      on_their_way_.push_back(std::move(*ready_));
      ready_.reset();
    }
  }
  struct Submission {
    std::vector<std::string> names;
    std::vector<network::Array> inputs;
  };
  /// The submission of the next result.
  Submission take_submitted() {
    Submission first = std::move(on_their_way_.front());
    on_their_way_.pop_front();
    return first;
  }
  /// The name of the first frame with a value that is infinite or not a number; empty: none was
  /// made.
  const std::string& not_finite() const { return not_finite_; }

 private:
  void make_ready() {
    ready_.emplace();
    std::vector<std::vector<network::Array>> inputs;
    const auto most = static_cast<std::size_t>(batches_.batch);
    for (std::size_t i = submitted_; i < batches_.frames.count && inputs.size() < most; ++i) {
      application::NamedFrame frame = batches_.frames.at(i);
      if (not_finite_.empty() && !network::is_finite(frame.inputs)) not_finite_ = frame.name;
      ready_->names.push_back(std::move(frame.name));
      inputs.push_back(std::move(frame.inputs));
    }
    ready_->inputs =
        most == 1 ? std::move(inputs.front()) : application::joined(inputs, batches_.batch);
  }

  runtime::LastingSession& session_;
  const Batches& batches_;
  std::size_t submitted_ = 0;
  std::optional<Submission> ready_;
  std::deque<Submission> on_their_way_;
  std::string not_finite_;
};

/// One frame of a result.
runtime::Result part_of(const runtime::Result& result, std::int64_t frame, std::size_t part,
                        std::int64_t batch) {
  if (batch == 1) return result;
  runtime::Result one = result;
  one.frame = frame;
  one.outputs = application::part_of(result.outputs, static_cast<std::int64_t>(part), batch);
  return one;
}

/// All frames through the session, results handed on in order, until the end or an interrupt.
RunTotals pump(runtime::LastingSession& session, const Batches& batches, const Handler& handle,
               const Loaded& loaded) {
  const InterruptGuard interrupt(loaded.context.interrupt);
  const auto work = loaded.context.begin("running");
  const std::size_t count = batches.frames.count;
  RunTotals totals;
  Feeder feeder(session, batches);
  std::vector<std::vector<network::Array>> suspects;
  const auto start = std::chrono::steady_clock::now();
  while (totals.frames < static_cast<std::int64_t>(count) && !totals.interrupted) {
    feeder.fill();
    const auto result = session.next();
    if (!result) throw EngineError("the pipeline ended before all frames came out");
    totals.finite = totals.finite && network::is_finite(result->outputs);
    const Feeder::Submission submitted = feeder.take_submitted();
    if (session.may_have_made_nan(result->frame)) suspects.push_back(submitted.inputs);
    for (std::size_t i = 0; i < submitted.names.size(); ++i)
      handle(submitted.names[i], part_of(*result, totals.frames++, i, batches.batch));
    totals.interrupted = interrupt.take();
    work->show(static_cast<double>(totals.frames) / static_cast<double>(count),
               fmt::format("{} of {} frames", totals.frames, count));
  }
  totals.not_finite_input = feeder.not_finite();
  totals.elapsed = std::chrono::steady_clock::now() - start;
  totals.nan_layer = network::nan_layer_of(loaded.network, suspects);
  return totals;
}

/// A class that the network cannot find would only make the accuracy smaller. Nothing is known of
/// one that answers with the class itself.
void check_labels(const std::vector<std::int64_t>& labels, const network::Network& network,
                  const std::string& file) {
  const network::Tensor& output = network[network.outputs.front()];
  const std::int64_t classes = network::element_count(output.shape, output.name);
  if (output.type == network::DataType::int64) return;
  for (std::size_t i = 0; i < labels.size(); ++i)
    if (labels[i] >= classes)
      throw InputError(file, fmt::format("label {} is {}, but the network's first output has {} "
                                         "values; expected 0 to {}",
                                         i + 1, labels[i], classes, classes - 1));
}

/// Where results go, and how many of them were right.
class Output {
 public:
  /// `one`: the network as it is for one picture.
  Output(const Loaded& loaded, const RunRequest& options, std::size_t frames,
         const network::Network& one)
      : loaded_(loaded), path_(options.output), is_array_(path_.ends_with(".npy")) {
    if (is_array_) arrays_.resize(loaded.network.outputs.size());
    if (options.labels.empty()) return;
    labels_ = read_labels(options.labels);
    if (labels_.size() != frames)
      throw InputError(options.labels, fmt::format("holds {} labels for {} frames; expected one "
                                                   "per frame, in the same order",
                                                   labels_.size(), frames));
    check_labels(labels_, one, options.labels);
  }

  /// Lines are kept as far as they came, also if an error or an interrupt ends them.
  RunTotals run(runtime::LastingSession& session, const Batches& batches) {
    std::optional<LinesFile> file;
    if (!path_.empty() && !is_array_) file.emplace(path_);
    RunTotals totals;
    try {
      totals = pump(
          session, batches,
          [&](const std::string& source, const runtime::Result& result) {
            take(source, result, file ? &*file : nullptr);
          },
          loaded_);
    } catch (...) {
      if (file) file->keep();
      if (file && file->lines() > 0)
        loaded_.context.note(fmt::format("kept: {} lines in {}", file->lines(), path_));
      throw;
    }
    if (file) file->keep();
    if (totals.interrupted) throw EngineError(interrupted_text(totals.frames, file.has_value()));
    if (is_array_) write_arrays();
    if (has_labels()) totals.right = right_;
    return totals;
  }

 private:
  bool has_labels() const { return !labels_.empty(); }
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
      loaded_.context.note(fmt::format("{} has {} outputs, one file for each: {}",
                                       loaded_.network.name, files.size(), fmt::join(files, ", ")));
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

FilesRead files_read_by(const RunRequest& options) {
  FilesRead files;
  files.add(options.runnable);
  files.add(options.frames);
  files.add("file of labels", options.labels);
  files.refuse(options.output);
  files.refuse(options.trace.file);
  return files;
}

formats::ModelSource source_of(const Loaded& loaded, const RunnableOptions& runnable) {
  const formats::ModelSource& given = runnable.model.source;
  if (!is_plan_file(given.file)) return given;
  formats::ModelSource source = loaded.origin.model;
  if (formats::wants_random_weights(given)) source.weights = given.weights;
  return source;
}

}  // namespace

RunTotals run(const RunRequest& request) {
  FilesRead files = files_read_by(request);
  const auto loaded = load_runnable(request.runnable);
  if (request.output.ends_with(".npy") && loaded->network.outputs.size() > 1)
    for (const std::string& file : output_files(loaded->network, request.output))
      files.refuse(file);
  if (!request.frames.inputs.empty())
    check_weights(loaded->network, source_of(*loaded, request.runnable), loaded->context);
  note_simulation(*loaded);
  const Setup& setup = request.runnable.model;
  const std::int64_t batch = application::pictures_at_once(loaded->network, request.frames);
  network::Network one;  // as it is for one picture
  if (batch > 1) one = application::for_one_picture(loaded->network, batch);
  const network::Network& shown = batch > 1 ? one : loaded->network;
  const Batches batches{application::open_frames(shown, request.frames, setup.source.seed), batch};
  if (request.frames.inputs.empty()) loaded->context.note("inputs are random");
  Output output(*loaded, request, batches.frames.count, shown);
  if (!is_plan_file(setup.source.file)) {
    if (batches.frames.count >= worth_planning)
      plan_here(*loaded, setup);
    else if (batches.frames.count >= worth_measuring)
      choose_variants(*loaded);
  }
  const auto start = [&](const plan::Plan& plan) {
    runtime::add_engines(*loaded, plan, setup.source.file, engine_options(loaded->context));
    return deploy(*loaded, plan, setup.source.file, {.trace_frames = frames_of(request.trace)});
  };
  runtime::LastingSession session(
      start(loaded->plan), schedule::read_takeovers(setup.source.file, loaded->network), start,
      [&](const auto& text) { loaded->context.note(text); });
  runtime::ClockWatch watch(devices_to_watch(*loaded));
  RunTotals totals = output.run(session, batches);
  const runtime::ClockRecord& clocks = watch.stop();
  totals.elapsed = board_time(totals.elapsed, *loaded);
  totals.stages = loaded->plan.stages.size();
  totals.replicas = plan::actors_in(loaded->plan);
  write_trace(request.trace, session.current(), *loaded, clocks);
  for (const std::string& text : low_clocks(clocks, loaded->origin.clocks_mhz))
    loaded->context.note(text);
  note_late_stages(*loaded);
  return totals;
}

}  // namespace millrace::product
