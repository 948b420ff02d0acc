#include "api/application/results.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>

namespace millrace::api {
namespace {

using application::Output;

/// "boxes.avi" as "boxes.left.avi".
std::string with_name(const std::filesystem::path& path, const std::string& name) {
  std::filesystem::path result = path;
  result.replace_filename(path.stem().string() + "." + name + path.extension().string());
  return result.string();
}

std::vector<std::unique_ptr<application::Sink>> sinks_for(const Output& output, double rate_fps,
                                                          const std::vector<std::string>& labels) {
  std::vector<std::unique_ptr<application::Sink>> sinks;
  if (!output.images.empty()) sinks.push_back(application::picture_sink(output.images, labels));
  if (!output.maps.empty()) sinks.push_back(application::map_sink(output.maps));
  if (!output.video.empty())
    sinks.push_back(application::video_sink(output.video, rate_fps, labels));
  return sinks;
}

}  // namespace

std::vector<Output> outputs_by_input(const application::Application& application) {
  if (!application.has_several_inputs()) return {application.output};
  std::vector<Output> outputs;
  for (const application::Input& input : application.inputs()) {
    Output& output = outputs.emplace_back(application.output);
    for (std::string* folder : {&output.images, &output.maps})
      if (!folder->empty()) *folder = (std::filesystem::path(*folder) / input.name).string();
    if (!output.video.empty()) output.video = with_name(output.video, input.name);
  }
  return outputs;
}

ApplicationResults::ApplicationResults(const application::Application& application,
                                       const Options& options)
    : application_(application) {
  const Output& output = application.output;
  const std::vector<std::string>& labels = application.labels;
  if (!output.json.empty())
    file_.emplace(output.json);
  else if (options.printed && output.images.empty() && output.video.empty() && output.maps.empty())
    out_.emplace(application.input.is_live());
  if (file_ || out_)
    lines_ = application::json_sink([this](const std::string& line) { write_line(line); }, labels);
  const std::vector<Output> outputs = outputs_by_input(application);
  for (std::size_t i = 0; i < outputs.size(); ++i)
    sinks_.push_back(sinks_for(outputs[i], options.rates_fps[i], labels));
}

void ApplicationResults::write_line(const std::string& line) {
  if (file_) file_->write(line);
  if (out_) out_->write(line);
}

void ApplicationResults::take(const application::Outcome& outcome) {
  const std::lock_guard lock(mutex_);
  if (closed_) return;
  if (lines_) lines_->take(outcome);
  for (const auto& sink : sinks_[outcome.picture.source]) sink->take(outcome);
  ++frames_;
}

bool ApplicationResults::keep(std::chrono::milliseconds patience) {
  const std::unique_lock lock(mutex_, patience);
  if (!lock.owns_lock()) return false;
  if (closed_) return true;
  closed_ = true;
  if (file_) file_->keep();
  for (const Sinks& sinks : sinks_)
    for (const auto& sink : sinks) sink->finish();
  return true;
}

std::string ApplicationResults::kept_text() const {
  const Output& output = application_.output;
  std::vector<std::string> kept;
  if (out_) kept.push_back(fmt::format("{} lines on standard output", out_->lines()));
  if (file_) kept.push_back(fmt::format("{} lines in {}", file_->lines(), output.json));
  if (!output.images.empty()) kept.push_back("pictures in " + output.images);
  if (!output.maps.empty()) kept.push_back("maps in " + output.maps);
  for (const Output& each : outputs_by_input(application_))
    if (!each.video.empty()) kept.push_back("the video " + each.video);
  return fmt::format("{}", fmt::join(kept, ", "));
}

}  // namespace millrace::api
