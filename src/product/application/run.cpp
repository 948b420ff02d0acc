#include "product/application/run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "application/heads/summary.h"
#include "application/image_file.h"
#include "application/loaded/measured_accuracy.h"
#include "application/loaded/results.h"
#include "application/loaded/running.h"
#include "application/sources/input_sizes.h"
#include "application/sources/intake.h"
#include "base/error.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "network/evaluate/nan_layer.h"
#include "product/open_model.h"
#include "product/written_over.h"
#include "runtime/loaded/clocks.h"
#include "runtime/pool.h"

namespace millrace::product {
namespace {

using application::Outcome;
using application::Totals;

constexpr std::chrono::milliseconds between_looks{100};
constexpr std::int64_t plenty = 300;

/// In a thread of its own: a camera that says nothing holds who opens it for many seconds.
std::unique_ptr<application::Source> opened_source(const LoadedApplication& loaded,
                                                   const ApplicationRun& how,
                                                   const InterruptGuard& interrupt) {
  std::unique_ptr<application::Source> source;
  bool has_begun = false;
  const auto take = [&]() -> std::optional<runtime::Job> {
    if (std::exchange(has_begun, true)) return std::nullopt;
    return runtime::Job{
        [&] { source = application::open_source(loaded.application, loaded.network()); },
        [] { return true; }};
  };
  runtime::Pool opening(take, {"input"});
  while (!opening.wait_for(between_looks)) {
    if (!interrupt.take()) continue;
    const std::string text = "interrupted while the input was being opened; no result was written";
    if (how.leave) how.leave(text, !loaded.application.input.is_live());
    throw EngineError(text);
  }
  return source;
}

/// One way through all frames. However it ends, what came out until then is kept.
class Runner {
 public:
  /// `reload`: the application as its file says now.
  Runner(const LoadedApplication& loaded, const ApplicationRun& how,
         const InterruptGuard& interrupt,
         std::function<std::unique_ptr<LoadedApplication>()> reload)
      : loaded_(loaded),
        how_(how),
        interrupt_(interrupt),
        reload_(std::move(reload)),
        labels_(loaded.application.labels) {
    if (loaded.truth) meter_.emplace(application::checked_truth(loaded), loaded.application);
    if (!loaded.application.input.is_live()) open();
  }

  Totals run() {
    std::optional<application::Intake> taken;  // gone after the work
    auto work = std::make_unique<application::Running>(loaded_, traced_frames());
    // A camera sends from when it is opened: until here its pictures would only grow old.
    if (loaded_.application.input.is_live()) open();
    runtime::ClockWatch watch(devices_to_watch(*loaded_.loaded));
    application::Intake& intake = taken.emplace(loaded_.application, source_.get());
    intake.begin();
    begin(*work, intake, {});
    const application::Observed observed(how_.observer, work->at_work());
    work->go_on();
    try {
      while (!has_ended(work->run())) replace(work, intake, observed);
      results_->show_until(work->run().totals().last_due);
    } catch (...) {
      keep_in_spite_of_an_error();
      throw;
    }
    keep_all();
    const runtime::ClockRecord& clocks = watch.stop();
    const Loaded& loaded = *work->loaded().loaded;
    write_trace(how_.trace, work->session(), loaded, clocks);
    for (const std::string& text : low_clocks(clocks, loaded.origin.clocks_mhz))
      context().note(text);
    if (const std::string text = sizes_.text(); !text.empty()) context().note(text);
    for (const auto& [remark, picture] : remarks_)
      context().note(fmt::format("'{}' {}", picture, remark));
    if (asked_ && !loaded_.application.input.is_live()) throw EngineError(interrupted_text());
    const Totals totals = work->run().totals();
    note_nan(work->loaded(), totals);
    return totals;
  }
  /// So many, or nobody knows how many, that planning takes less time than it saves.
  bool has_many_frames() const {
    if (source_ == nullptr) return false;  // live: its plan is made
    const std::int64_t asked = loaded_.application.input.frames;
    return std::min(source_->count().value_or(plenty), asked > 0 ? asked : plenty) >= plenty;
  }
  std::int64_t skipped() const { return skipped_; }
  /// Layer of the first network that made NaN of numbers; empty: none.
  const std::string& nan_layer() const { return nan_layer_; }
  std::optional<application::Accuracy> accuracy() const {
    if (!meter_) return std::nullopt;
    return meter_->result();
  }

 private:
  static constexpr std::chrono::milliseconds patience{200};

  const millrace::Context& context() const { return loaded_.loaded->context; }
  /// The source, then what its results are written to.
  void open() {
    source_ = opened_source(loaded_, how_, interrupt_);
    results_.emplace(loaded_.application, application::ApplicationResults::Options{
                                              rates_of(loaded_.application), !loaded_.truth});
  }
  /// By input.
  std::vector<double> rates_of(const application::Application& application) const {
    std::vector<double> rates;
    std::vector<application::Source*> sources = source_->lanes();
    if (sources.empty()) sources.push_back(source_.get());
    const std::vector<application::Input> inputs = application.inputs();
    for (std::size_t i = 0; i < inputs.size(); ++i)
      rates.push_back(inputs[i].rate_fps > 0 ? inputs[i].rate_fps : sources[i]->rate_fps());
    return rates;
  }

  std::int64_t traced_frames() const {
    if (!how_.trace.file.empty() || how_.observer == nullptr) return frames_of(how_.trace);
    return how_.observer->traced_frames();
  }

  void take(const Outcome& outcome) {
    results_->take(outcome);
    if (how_.observer != nullptr) how_.observer->take(outcome);
    if (how_.line) how_.line(application::summary_line(outcome, labels_));
    sizes_.look_at(outcome.picture);
    if (meter_) meter_->take(outcome);
    const application::Picture& picture = outcome.picture;
    if (picture.remark.empty()) return;
    remarks_.try_emplace(picture.remark, picture.name.substr(0, picture.name.rfind(' ')));
  }

  void begin(application::Running& work, application::Intake& intake, const Totals& so_far) {
    application::Parts parts = work.loaded().parts_for_truth(*source_);
    parts.intake = &intake;
    parts.so_far = &so_far;
    parts.skip = [this](const InputError& error) {
      ++skipped_;
      if (how_.observer != nullptr) how_.observer->skipped();
      context().note(fmt::format("skipped: {}", error.what()));
    };
    work.begin(parts, [this](const Outcome& outcome) { take(outcome); });
  }

  /// Frames on their way come out of what is at work, and the next one is for the application as
  /// its file says now. If that cannot be, it is said, and nothing changes.
  void replace(std::unique_ptr<application::Running>& work, application::Intake& intake,
               const application::Observed& observed) {
    std::unique_ptr<LoadedApplication> loaded;
    std::unique_ptr<application::Running> next;
    try {
      if (meter_) throw InputError(loaded_.application.file, "its accuracy is being measured");
      loaded = reload_();
      check_that_the_rest_stays(loaded_, *loaded);
      next = std::make_unique<application::Running>(*loaded, traced_frames());
    } catch (const std::exception& error) {
      return context().note(fmt::format("the application goes on as it was: {}", error.what()));
    }
    work->run().hand_over();
    while (!has_ended(work->run())) continue;
    Totals so_far = work->run().totals();
    note_nan(work->loaded(), so_far);
    so_far.suspects.clear();
    results_->use_labels_of(loaded->application);
    labels_ = loaded->application.labels;
    intake.go_on();
    begin(*next, intake, so_far);
    observed.change(next->at_work());
    work = std::move(next);
    later_ = std::move(loaded);  // what was at work is gone
    work->go_on();
    context().note(fmt::format("'{}' was read again after {} frames", loaded_.application.file,
                               results_->frames()));
  }

  void note_nan(const application::LoadedApplication& loaded, const Totals& totals) {
    if (nan_layer_.empty())
      nan_layer_ = network::nan_layer_of(loaded.loaded->network, totals.suspects);
  }

  /// After an interrupt no more frames are taken, and those on their way have a second. False: the
  /// application is to be read again.
  bool has_ended(application::Run& run) {
    constexpr std::chrono::seconds grace{1};
    while (!run.wait_for(between_looks)) {
      if (!asked_ && how_.wants_reload && how_.wants_reload()) return false;
      const auto now = std::chrono::steady_clock::now();
      if (!asked_ && interrupt_.take()) {
        asked_ = now;
        run.finish();
      }
      if (how_.leave && asked_ && now - *asked_ > grace) leave();
    }
    return true;
  }

  /// A thread that hangs in a source or a processing cannot be joined, so nothing is.
  void leave() {
    bool failed = !loaded_.application.input.is_live();
    std::string text;
    try {
      const bool kept = results_->keep(patience);
      text = kept ? interrupted_text() : "interrupted while a result was being written";
      if (kept) std::fflush(stdout);
      failed = failed || !kept;
    } catch (const std::exception& error) {
      note_kept();
      text = error.what();
      failed = true;
    }
    how_.leave(text + "; frames on their way did not come out in time", failed);
  }

  void note_kept() const {
    if (const std::string kept = results_->kept_text(); !kept.empty())
      context().note("kept: " + kept);
  }

  /// What is not whole is an error, but the rest is there.
  void keep_all() {
    try {
      results_->keep(patience);
    } catch (...) {
      note_kept();
      throw;
    }
  }

  /// The first error is the one that is reported.
  void keep_in_spite_of_an_error() {
    try {
      results_->keep(patience);
    } catch (const std::exception& error) {
      context().note(error.what());
    }
    note_kept();
  }

  std::string interrupted_text() const {
    const std::string kept = results_->kept_text();
    if (!kept.empty())
      return fmt::format("interrupted after {} frames; kept: {}", results_->frames(), kept);
    if (results_->frames() == 0) return "interrupted; no result was written";
    return fmt::format(
        "interrupted after {} frames; the accuracy needs all frames, so no result was written",
        results_->frames());
  }

  const LoadedApplication& loaded_;
  const ApplicationRun& how_;
  const InterruptGuard& interrupt_;
  const std::function<std::unique_ptr<LoadedApplication>()> reload_;
  std::string nan_layer_;
  std::unique_ptr<application::Source> source_;
  std::optional<application::ApplicationResults> results_;  // with the source
  application::Labels labels_;
  std::unique_ptr<LoadedApplication> later_;  // that is at work; none: the first
  std::optional<application::AccuracyMeter> meter_;
  application::InputSizes sizes_;
  std::map<std::string, std::string> remarks_;  // the first picture of each
  std::atomic<std::int64_t> skipped_{0};
  std::optional<std::chrono::steady_clock::time_point> asked_;  // to end
};

/// Files beside the pictures that nobody would miss otherwise.
void note_passed_over(const application::Input& input, const Context& context) {
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
    context.note(
        fmt::format("{} {} in '{}' {} left out: {} no ending of a picture that is read ({})", files,
                    files == 1 ? "file" : "files", input.path, files == 1 ? "is" : "are",
                    files == 1 ? "it has" : "they have", fmt::join(endings, ", ")));
}

/// Before anything is written.
void refuse_results_over(const application::Application& application, const Context& context,
                         const ApplicationOptions& options, const ApplicationRun& how) {
  FilesRead files;
  files.add(application);
  files.add(context);
  files.add(options);
  if (application.output.json != standard_output) files.refuse(application.output.json);
  for (application::Output output : outputs_by_input(application)) {
    output.json.clear();
    files.refuse(output);
  }
  files.refuse(how.trace.file);
}

/// Fit to run: with its weights, and with results that overwrite nothing that it reads.
std::unique_ptr<LoadedApplication> load_to_run(const RunnableOptions& runnable,
                                               const ApplicationOptions& options,
                                               const ApplicationRun& how) {
  auto loaded = load_application(runnable, options);
  const Context& context = runnable.model.context;
  application::Application& application = loaded->application;
  check_weights(loaded->loaded->network, application.model, context);
  if (loaded->of_crops)
    check_weights(loaded->of_crops->loaded->network, application.crops->model, context);
  if (!how.json.empty()) application.output.json = how.json;
  refuse_results_over(application, context, options, how);
  return loaded;
}

}  // namespace

ApplicationTotals run_application(const RunnableOptions& runnable,
                                  const ApplicationOptions& options, const ApplicationRun& how) {
  const auto loaded = load_to_run(runnable, options, how);
  const Context& context = runnable.model.context;
  const application::Application& application = loaded->application;
  for (const application::Input& input : application.inputs()) note_passed_over(input, context);
  if (loaded->unplanned && application.precisions != application::Application{}.precisions)
    context.note("without ⟨plan⟩ the network runs in f32");
  if (application.input.is_live()) plan_here(*loaded);  // else frames would wait for it
  const InterruptGuard interrupt(context.interrupt);
  Runner runner(*loaded, how, interrupt, [&] {
    auto again = load_to_run(runnable, options, how);
    plan_here(*again);
    return again;
  });
  if (!application.input.is_live() && runner.has_many_frames()) plan_here(*loaded);
  const Totals totals = runner.run();
  return {totals,
          runner.skipped(),
          application.input.is_live(),
          application.crops.has_value(),
          runner.nan_layer(),
          runner.accuracy()};
}

void check_complaint(const Totals& totals) {
  if (!totals.complaint) return;
  if (totals.complaint->of_machine)
    throw EngineError(totals.complaint->place + ": " + totals.complaint->text);
  throw InputError(totals.complaint->place, totals.complaint->text);
}

}  // namespace millrace::product
