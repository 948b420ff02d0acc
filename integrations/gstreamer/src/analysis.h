#pragma once
// An application at work on frames of a pipeline, by Millrace's public interface.
#include <gst/video/video.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <millrace/millrace.h>

#include "settings.h"

namespace millrace_gst {

/// One thread submits, another takes; see millrace::ApplicationSession.
class Analysis {
 public:
  /// Reads model and plan, or makes a plan, and starts. Throws millrace::Error.
  explicit Analysis(const MillraceSettings& settings);

  /// Shares the pixels of RGB until its outcome is gone, and copies others. False: it has ended.
  bool submit(std::shared_ptr<const GstVideoFrame> frame);
  /// Of the next frame; waits for it.
  std::optional<millrace::Outcome> next() { return session_.next(); }
  void finish() { session_.finish(); }

  std::int64_t depth() const { return session_.depth(); }
  const std::vector<std::string>& labels() const { return application_.labels(); }
  /// Of one frame alone, measured at the start.
  std::chrono::nanoseconds latency() const { return latency_; }

 private:
  explicit Analysis(millrace::Application application, const MillraceSettings& settings);
  void measure_latency();

  millrace::Application application_;
  millrace::ApplicationSession session_;
  std::chrono::nanoseconds latency_{};
};

/// The label's name; its number, if it has none.
std::string name_of(std::int64_t label, const std::vector<std::string>& labels);

}  // namespace millrace_gst
