#pragma once
// Where the results of an application's run go.
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "application/sink.h"
#include "base/files/lines_file.h"
#include "base/units.h"

namespace millrace::application {

/// What is written for each of the application's inputs, in their order: for one what the
/// application says; of several a folder in its folders for each, and a video of its own,
/// "boxes.left.avi". Lines go to one place.
std::vector<Output> outputs_by_input(const Application& application);

/// Lines, pictures and a video, as the application says; lines for "-" go to standard output.
/// However the run ends, what came until then is kept.
class ApplicationResults {
 public:
  struct Options {
    std::vector<double> rates_fps;  // of the videos, by input
    bool printed = true;  // lines on standard output, if the application names no other result
  };
  /// Borrows the application.
  ApplicationResults(const Application& application, const Options& options);

  /// What classes are called from now on. The application's outputs stay as they were.
  void use_labels_of(const Application& application);
  /// One thread at a time, frames in order. Nothing after keep().
  void take(const Outcome& outcome);
  /// By input: when its last picture was due, dropped or not; videos last until then. Before
  /// keep().
  void show_until(const std::vector<std::optional<Time>>& last_due);
  /// Everything under its name. Waits for a frame that is being written for so long at most; false:
  /// it is still being written, and nothing was done. What is not whole leaves the others as they
  /// are; the first error is thrown at the end.
  bool keep(std::chrono::milliseconds patience);
  std::int64_t frames() const { return frames_; }
  /// Such as "5 lines in out.jsonl, pictures in out"; empty: nothing. After keep().
  std::string kept_text() const;

 private:
  /// What is written for one input.
  struct Sinks {
    std::vector<std::unique_ptr<Sink>> pictures;
    std::unique_ptr<Sink> video;  // none: none is written
    std::int64_t frames = 0;
    bool keeps_video = false;
  };
  static Sinks sinks_for(const Output& output, double rate_fps,
                         const Labels& labels);
  void write_line(const std::string& line);
  void keep_video(Sinks& sinks);

  const Application& application_;
  std::optional<LinesFile> file_;
  std::optional<LinesOut> out_;
  std::unique_ptr<Sink> lines_;  // none: no lines are written
  std::vector<Sinks> sinks_;                  // by input
  std::timed_mutex mutex_;                    // take() and keep(), if a frame hangs
  bool closed_ = false;
  bool keeps_file_ = false;
  std::int64_t frames_ = 0;
};

}  // namespace millrace::application
