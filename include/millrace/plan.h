#pragma once
// Which layers run where: the decision for one model.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "millrace/model.h"
#include "millrace/options.h"
#include "millrace/profile.h"
#include "millrace/session.h"

namespace millrace {
inline namespace v1 {

struct PlanRequest {
  std::vector<std::string> processors;  // by name; empty: all of the board
  std::string engine;                   // empty: the preferred ones of this build
  std::vector<Precision> precisions;  // of layers; empty: float32, or as the application says
  std::optional<double> max_error;  // of a variant of a layer, as a share; none: the usual
  std::string board;   // a board file or shipped board, with modelled times; empty: here
  std::string limits;  // a board file whose limits hold here; empty: none
  std::optional<Profile> profile;  // none: kept or measured
  std::string search = "auto";  // "exact", "genetic", "one-processor", or another of search_names()
  std::uint64_t seed = 1;
  Duration measuring = std::chrono::milliseconds(500);  // each candidate; 0: predictions decide
  std::optional<Duration> max_latency;
  std::int64_t max_batch = 16;  // with a largest latency
  std::optional<std::int64_t> max_memory_bytes;  // of frames between layers
  int streams = 1;                                    // of a stage on one processor, at most
  /// Lower precisions where the outputs of `samples` lose no more than this share; none: no such
  /// budget.
  std::optional<double> max_loss;
  std::vector<Frame> samples;
  std::optional<Calibration> calibration;  // of int8; none: from the samples
  Options options;
};

/// All names for PlanRequest::search.
std::vector<std::string> search_names();

/// Layers that a stage runs in one piece.
struct PhaseInfo {
  std::vector<std::string> layers;
  std::int64_t offset = 0, batch = 1;  // frames
  std::optional<Duration> predicted;  // of one frame
};

/// One thread of a plan for each of its processors.
struct StageInfo {
  std::string name, engine;
  std::vector<std::string> processors;  // one for each replica
  std::vector<PhaseInfo> phases;
  std::optional<Duration> predicted, measured;  // of one frame, by its first replica
};

/// A plan that was compared.
struct Candidate {
  std::string name;
  Duration predicted_period{};
  std::optional<Duration> measured_period;
  std::int64_t stages = 0;
  bool chosen = false;
};

/// Never changes, and copies share it: any thread may use any copy.
class Plan {
 public:
  /// A plan of this model, or of the model that the file names. Error if it was made for another.
  static Plan from_file(const std::string& path, const Model& model);
  static Plan from_file(const std::string& path);
  static Plan from_file(const std::string& path, const Options& options);
  /// Error if the file cannot be written.
  void write(const std::string& path) const;
  /// A page in HTML, complete in itself: the network, its stages, the predicted course, the proof.
  /// Error if the file cannot be written.
  void report(const std::string& path) const;

  const Model& model() const;
  std::vector<StageInfo> stages() const;
  /// Between two frames: by the plan's dataflow graph; and while it was made.
  std::optional<Duration> predicted_period() const;
  std::optional<Duration> measured_period() const;
  /// The plans that were compared, for a plan that was made here; none for a plan from a file.
  std::vector<Candidate> candidates() const;

  /// Starts its stages on this machine. The session keeps plan and model. Any number may run.
  Session start() const;
  Session start(const SessionOptions& options) const;
  /// The same; each result goes to `take`, in order, on a thread of the session. What it throws
  /// ends the session, and Session::wait() passes it on.
  Session start(std::function<void(Result)> take) const;
  Session start(std::function<void(Result)> take, const SessionOptions& options) const;

 private:
  friend struct Access;
  struct Impl;
  explicit Plan(std::shared_ptr<const void> impl) : impl_(std::move(impl)) {}
  const Impl* impl() const { return static_cast<const Impl*>(impl_.get()); }

  std::shared_ptr<const void> impl_;  // an Impl
};

}  // namespace v1
}  // namespace millrace
