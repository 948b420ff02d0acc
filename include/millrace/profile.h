#pragma once
// What layers take on processors, and between which values tensors lie: what plans are made from.
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "millrace/model.h"
#include "millrace/options.h"
#include "millrace/tensor.h"

namespace millrace {
inline namespace v1 {

enum class Precision { f32, f16, bf16, int8 };

struct ProfileRequest {
  std::vector<std::string> processors;  // by name; empty: all of this machine
  std::string engine;                   // empty: the preferred ones of this build
  std::vector<Precision> precisions;  // that layers may compute in; empty: float32
  std::optional<double> max_error;  // of a variant of a layer, as a share; none: the usual
  std::string board;  // a board file or shipped board, whose times are modelled; empty: here
  Duration duration = std::chrono::milliseconds(500);  // of each processor, at least
  int warmup = 2, least_runs = 10;
  bool fresh = false;    // measured, though a fitting profile is kept
  bool batches = false;  // also on several frames at once
  std::uint64_t seed = 1;
  Options options;
};

/// A layer on a processor in its fastest variant.
struct LayerTime {
  std::string layer;
  Duration time{};  // the median, inside the whole network; of what is fused: at its first layer
  Duration worst{};  // max(largest seen, mean + 6 deviations)
  std::string kernel;
  std::string refusal;  // why the processor cannot run it; empty: it can
};

struct ProcessorTimes {
  std::string processor, engine;
  Precision precision = Precision::f32;
  Duration whole{};  // the network in one piece, the median
  bool stable = true;  // both halves of the measurement agree within 5 %
  std::vector<LayerTime> layers;
};

/// Measured or modelled times of one model on one board. It never changes, and copies share it: any
/// thread may use any copy.
class Profile {
 public:
  /// Error if the file is no profile.
  static Profile from_file(const std::string& path);
  void write(const std::string& path) const;

  std::vector<ProcessorTimes> processors() const;
  bool is_modelled() const;

 private:
  friend struct Access;
  struct Impl;
  explicit Profile(std::shared_ptr<const void> impl) : impl_(std::move(impl)) {}
  const Impl* impl() const { return static_cast<const Impl*>(impl_.get()); }

  std::shared_ptr<const void> impl_;  // an Impl
};

enum class RangeMethod { squares, minmax, percentile, entropy };

struct CalibrationRequest {
  std::vector<Frame> frames;  // at least one
  RangeMethod method = RangeMethod::squares;
  double percentile = 99.99;
  bool corrects_bias = false;
  std::string processor;  // that runs the model; empty: the first
  std::string engine;     // empty: the preferred one
  Options options;
};

struct ValueRange {
  float low = 0, high = 0;
};

/// The ranges of a model's tensors, which int8 needs. Never changes, copies share it: any thread
/// may use any copy.
class Calibration {
 public:
  /// Error if the file is no table of this model.
  static Calibration from_file(const std::string& path, const Model& model);
  void write(const std::string& path) const;

  std::map<std::string, ValueRange> ranges() const;  // by tensor

 private:
  friend struct Access;
  struct Impl;
  explicit Calibration(std::shared_ptr<const void> impl) : impl_(std::move(impl)) {}
  const Impl* impl() const { return static_cast<const Impl*>(impl_.get()); }

  std::shared_ptr<const void> impl_;  // an Impl
};

/// Runs the model in float32 on the frames. Any thread.
Calibration calibrate(const Model& model, const CalibrationRequest& request);

}  // namespace v1
}  // namespace millrace
