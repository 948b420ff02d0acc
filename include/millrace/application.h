#pragma once
// A model with what stands before and behind it: pictures in, findings out.
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "millrace/findings.h"
#include "millrace/model.h"
#include "millrace/options.h"
#include "millrace/plan.h"

namespace millrace {
inline namespace v1 {

/// How pictures become the input: each byte times scale, less mean, by deviation.
struct Preprocessing {
  bool letterbox = false;  // the picture keeps its proportions
  PixelFormat colours = PixelFormat::rgb;
  double scale = 1.0 / 255;
  std::vector<double> mean = {0, 0, 0}, deviation = {1, 1, 1};
  double fill = 0.5;  // beside a letterboxed picture, of the range of a byte
};

/// What the outputs mean. `kind`: "top_k", "detect", "yolo", "region", "segmentation", "keypoints",
/// "embedding", "text" or "raw"; docs/detectors.md says which output each reads.
struct Postprocessing {
  std::string kind = "top_k";
  std::int64_t top = 5;
  double threshold = 0.25;  // of boxes
  double overlap = 0.45;    // of two boxes of a class that overlap by more the better one stays
  std::string head;    // of "detect"; empty: as the outputs say
};

struct ApplicationSettings {
  Preprocessing preprocessing;
  Postprocessing postprocessing;
  std::vector<std::string> labels;  // empty: those in the model's metadata
  Options options;
};

struct ApplicationOptions {
  std::vector<std::string> plugins;  // libraries, beside those that the file names
  Options options;
};

/// A frame on its way out.
struct Outcome {
  std::int64_t frame = 0;  // as the source or submit() counts, from 0
  std::string source;      // the picture's name; of a video's frame "clip.avi 12"
  Image image;
  Findings findings;
  Duration latency{};  // since the picture was taken, or submitted
};

struct ApplicationTotals {
  std::int64_t frames = 0, skipped = 0;  // skipped: cannot be decoded
  Duration elapsed{};
  std::int64_t dropped = 0;  // of a live input, for which there was no room
  std::string complaint;  // why the source ended early; empty: it did not
};

/// An application that runs on pictures of the program. Copies are one session, as of Session: one
/// thread may submit while another takes outcomes.
class ApplicationSession {
 public:
  /// Waits while as many pictures are on their way as depth() says. False: it has ended.
  bool submit(const Image& image);
  /// The next outcome, in order; waits for it. Nothing after finish() when all were taken. Rethrows
  /// the first error. Not of a session with a callback.
  std::optional<Outcome> next();
  /// submit() and next() of one picture. Any thread; one picture after the other.
  Findings run(const Image& image);
  /// No more pictures come; those on their way arrive.
  void finish();
  /// finish(), and returns when all outcomes are out; of a session with a callback. Rethrows what
  /// failed.
  void wait();
  std::int64_t depth() const;

 private:
  friend struct Access;
  struct Impl;
  explicit ApplicationSession(std::shared_ptr<void> impl) : impl_(std::move(impl)) {}
  Impl* impl() const { return static_cast<Impl*>(impl_.get()); }

  std::shared_ptr<void> impl_;  // an Impl
};

/// Never changes, and copies share it: any thread may use any copy.
class Application {
 public:
  /// An application's file (docs/applications.md). Error names file and field.
  static Application from_file(const std::string& path);
  static Application from_file(const std::string& path, const ApplicationOptions& options);
  static Application of(const Model& model, const ApplicationSettings& settings);

  const Model& model() const;
  const std::vector<std::string>& labels() const;
  /// Labels of what the second network finds in crops; empty: it has none, or there are no crops.
  const std::vector<std::string>& labels_of_crops() const;

  /// Runs the plan on pictures of the program; the plan is of this model. Error if the steps do
  /// not fit the model. The network of crops runs as the plan's file says if it was made for the
  /// application, else on a processor that the plan leaves free, or on the last one.
  ApplicationSession start(const Plan& plan) const;
  ApplicationSession start(const Plan& plan, const SessionOptions& options) const;
  /// The same; outcomes go to `take`, in order, on a thread of the session.
  ApplicationSession start(const Plan& plan, std::function<void(const Outcome&)> take,
                           const SessionOptions& options) const;
  ApplicationSession start(const Plan& plan, std::function<void(const Outcome&)> take) const;
  /// Runs the plan on the input that the file names, to its end or until cancelled; outcomes go to
  /// `take`, in order. Results are written nowhere.
  ApplicationTotals run(const Plan& plan, std::function<void(const Outcome&)> take) const;
  ApplicationTotals run(const Plan& plan, std::function<void(const Outcome&)> take,
                        const SessionOptions& options) const;

 private:
  friend struct Access;
  struct Impl;
  explicit Application(std::shared_ptr<const void> impl) : impl_(std::move(impl)) {}
  const Impl* impl() const { return static_cast<const Impl*>(impl_.get()); }

  std::shared_ptr<const void> impl_;  // an Impl
};

}  // namespace v1
}  // namespace millrace
