#include "application/loaded/results.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <exception>
#include <filesystem>
#include <functional>

#include "base/file.h"

namespace millrace::application {
namespace {


/// "boxes.avi" as "boxes.left.avi".
std::string with_name(const std::filesystem::path& path, const std::string& name) {
  std::filesystem::path result = path;
  result.replace_filename(path.stem().string() + "." + name + path.extension().string());
  return result.string();
}

Labels labels_of(const Application& application) {
  Labels labels(application.labels);
  if (application.crops) labels.of_crops = application.crops->labels;
  return labels;
}

/// Calls all of them, then rethrows the first error.
void call_all(const std::vector<std::function<void()>>& calls) {
  std::exception_ptr first;
  for (const std::function<void()>& call : calls) {
    try {
      call();
    } catch (...) {
      if (!first) first = std::current_exception();
    }
  }
  if (first) std::rethrow_exception(first);
}

}  // namespace

std::vector<Output> outputs_by_input(const Application& application) {
  if (!application.has_several_inputs()) return {application.output};
  std::vector<Output> outputs;
  for (const Input& input : application.inputs()) {
    Output& output = outputs.emplace_back(application.output);
    for (std::string* folder : {&output.images, &output.maps})
      if (!folder->empty()) *folder = (std::filesystem::path(*folder) / input.name).string();
    if (!output.video.empty()) output.video = with_name(output.video, input.name);
  }
  return outputs;
}

ApplicationResults::ApplicationResults(const Application& application,
                                       const Options& options)
    : application_(application) {
  const Output& output = application.output;
  const Labels labels = labels_of(application);
  const bool is_silent = output.images.empty() && output.video.empty() && output.maps.empty();
  if (output.json == standard_output || (output.json.empty() && options.printed && is_silent))
    out_.emplace(application.input.is_live());
  else if (!output.json.empty())
    file_.emplace(output.json);
  if (file_ || out_)
    lines_ = json_sink([this](const std::string& line) { write_line(line); }, labels);
  const std::vector<Output> outputs = outputs_by_input(application);
  for (std::size_t i = 0; i < outputs.size(); ++i)
    sinks_.push_back(sinks_for(outputs[i], options.rates_fps[i], labels));
}

ApplicationResults::Sinks ApplicationResults::sinks_for(const Output& output, double rate_fps,
                                                        const Labels& labels) {
  Sinks sinks;
  if (!output.images.empty())
    sinks.pictures.push_back(picture_sink(output.images, labels));
  if (!output.maps.empty()) sinks.pictures.push_back(map_sink(output.maps));
  if (!output.video.empty()) sinks.video = video_sink(output.video, rate_fps, labels);
  return sinks;
}

void ApplicationResults::use_labels_of(const Application& application) {
  const Labels labels = labels_of(application);
  const std::lock_guard lock(mutex_);
  if (lines_) lines_->use(labels);
  for (Sinks& sinks : sinks_) {
    for (const auto& sink : sinks.pictures) sink->use(labels);
    if (sinks.video) sinks.video->use(labels);
  }
}

void ApplicationResults::write_line(const std::string& line) {
  if (file_) file_->write(line);
  if (out_) out_->write(line);
}

void ApplicationResults::take(const Outcome& outcome) {
  const std::lock_guard lock(mutex_);
  if (closed_) return;
  if (lines_) lines_->take(outcome);
  Sinks& sinks = sinks_[outcome.picture.source];
  for (const auto& sink : sinks.pictures) sink->take(outcome);
  if (sinks.video) sinks.video->take(outcome);
  ++sinks.frames;
  ++frames_;
}

void ApplicationResults::show_until(const std::vector<std::optional<Time>>& last_due) {
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < last_due.size(); ++i)
    if (sinks_[i].video && last_due[i]) sinks_[i].video->show_until(*last_due[i]);
}

bool ApplicationResults::keep(std::chrono::milliseconds patience) {
  const std::unique_lock lock(mutex_, patience);
  if (!lock.owns_lock()) return false;
  if (closed_) return true;
  closed_ = true;
  std::vector<std::function<void()>> calls;
  if (file_)
    calls.push_back([this] {
      file_->keep();
      keeps_file_ = file_->lines() > 0;
    });
  for (Sinks& sinks : sinks_)
    if (sinks.video) calls.push_back([this, &sinks] { keep_video(sinks); });
  call_all(calls);
  return true;
}

void ApplicationResults::keep_video(Sinks& sinks) {
  sinks.video->finish();
  sinks.keeps_video = sinks.frames > 0;
}

std::string ApplicationResults::kept_text() const {
  const Output& output = application_.output;
  std::vector<std::string> kept;
  if (out_ && out_->lines() > 0)
    kept.push_back(fmt::format("{} lines on standard output", out_->lines()));
  if (keeps_file_) kept.push_back(fmt::format("{} lines in {}", file_->lines(), output.json));
  if (frames_ > 0 && !output.images.empty()) kept.push_back("pictures in " + output.images);
  if (frames_ > 0 && !output.maps.empty()) kept.push_back("maps in " + output.maps);
  const std::vector<Output> outputs = outputs_by_input(application_);
  for (std::size_t i = 0; i < outputs.size(); ++i)
    if (sinks_[i].keeps_video) kept.push_back("the video " + outputs[i].video);
  return fmt::format("{}", fmt::join(kept, ", "));
}

}  // namespace millrace::application
