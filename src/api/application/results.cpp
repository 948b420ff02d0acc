#include "api/application/results.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace millrace::api {

ApplicationResults::ApplicationResults(const application::Application& application,
                                       const Options& options)
    : application_(application) {
  const application::Output& output = application.output;
  const std::vector<std::string>& labels = application.labels;
  if (!output.json.empty())
    file_.emplace(output.json);
  else if (options.printed && output.images.empty() && output.video.empty() && output.maps.empty())
    out_.emplace(application.input.is_live());
  if (file_ || out_)
    sinks_.push_back(
        application::json_sink([this](const std::string& line) { write_line(line); }, labels));
  if (!output.images.empty()) sinks_.push_back(application::picture_sink(output.images, labels));
  if (!output.maps.empty()) sinks_.push_back(application::map_sink(output.maps));
  if (!output.video.empty())
    sinks_.push_back(application::video_sink(output.video, options.rate_fps, labels));
}

void ApplicationResults::write_line(const std::string& line) {
  if (file_) file_->write(line);
  if (out_) out_->write(line);
}

void ApplicationResults::take(const application::Outcome& outcome) {
  const std::lock_guard lock(mutex_);
  if (closed_) return;
  for (const auto& sink : sinks_) sink->take(outcome);
  ++frames_;
}

bool ApplicationResults::keep(std::chrono::milliseconds patience) {
  const std::unique_lock lock(mutex_, patience);
  if (!lock.owns_lock()) return false;
  if (closed_) return true;
  closed_ = true;
  if (file_) file_->keep();
  for (const auto& sink : sinks_) sink->finish();
  return true;
}

std::string ApplicationResults::kept_text() const {
  const application::Output& output = application_.output;
  std::vector<std::string> kept;
  if (out_) kept.push_back(fmt::format("{} lines on standard output", out_->lines()));
  if (file_) kept.push_back(fmt::format("{} lines in {}", file_->lines(), output.json));
  if (!output.images.empty()) kept.push_back("pictures in " + output.images);
  if (!output.maps.empty()) kept.push_back("maps in " + output.maps);
  if (!output.video.empty()) kept.push_back("the video " + output.video);
  return fmt::format("{}", fmt::join(kept, ", "));
}

}  // namespace millrace::api
