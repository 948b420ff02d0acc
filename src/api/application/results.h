#pragma once
// Where the results of `run APPLICATION` go.
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "api/lines_file.h"
#include "application/application.h"
#include "application/sink.h"

namespace millrace::api {

/// Lines, pictures and a video, as the application says. However the run ends, what came until then
/// is kept.
class ApplicationResults {
 public:
  struct Options {
    double rate_fps = 0;  // of the video
    bool printed = true;  // lines on standard output, if the application names no other result
  };
  /// Borrows the application.
  ApplicationResults(const application::Application& application, const Options& options);

  /// One thread at a time, frames in order. Nothing after keep().
  void take(const application::Outcome& outcome);
  /// Everything under its name. Waits for a frame that is being written for so long at most; false:
  /// it is still being written, and nothing was done. EngineError if something is not whole.
  bool keep(std::chrono::milliseconds patience);
  std::int64_t frames() const { return frames_; }
  /// Such as "5 lines in out.jsonl, pictures in out".
  std::string kept_text() const;

 private:
  void write_line(const std::string& line);

  const application::Application& application_;
  std::optional<LinesFile> file_;
  std::optional<LinesOut> out_;
  std::vector<std::unique_ptr<application::Sink>> sinks_;
  std::timed_mutex mutex_;  // take() and keep(), if a frame hangs
  bool closed_ = false;
  std::int64_t frames_ = 0;
};

}  // namespace millrace::api
