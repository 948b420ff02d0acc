#pragma once
// What other precisions cost in accuracy: outputs beside those in float32, frame by frame.
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "profile/frame_run.h"

namespace millrace::profile {

struct Loss {
  std::int64_t frames = 0;
  std::int64_t answers = 0;  // frames, or objects in them
  std::int64_t changed = 0;  // of the answers
  // Per frame: the largest difference over the largest value of the same output in float32; the
  // worst output counts.
  double mean_error = 0, largest_error = 0;
  // By another measure than the share of answers that change: which one, and by how much it fell.
  std::string measure = {};
  std::optional<double> fall = {};

  /// What a budget limits: the fall, or else the share of answers that change.
  double changed_share() const;
  bool operator==(const Loss&) const = default;
};

/// The top answer of a frame: by row of the first output, where its largest value stands; or, if
/// the output holds integers, what it holds.
std::vector<std::int64_t> top_answer(const network::Array& output);

/// The answers of one frame.
struct Answers {
  std::int64_t count = 1, changed = 0;
};
/// One: whether a top answer of the first output is another one.
Answers compare_top_answers(std::span<const network::Array> expected,
                            std::span<const network::Array> found);
/// The answers of a frame, beside those in float32.
using CompareAnswers =
    std::function<Answers(std::size_t frame, std::span<const network::Array> found)>;

/// Adds one frame. Both lists in the order of network.outputs.
void add_frame(Loss& loss, std::span<const network::Array> expected,
               std::span<const network::Array> found, Answers answers);

/// Keeps the outputs in float32 of all frames, to compare with.
class LossMeter {
 public:
  /// Runs all frames. `progress` is called after each frame, here and later; it may be empty, and
  /// may throw to stop. InputError as calibrate(); EngineError.
  LossMeter(const Execution& execution, const Samples& samples,
            std::function<void()> progress = {});

  using Outputs = std::vector<network::Array>;
  /// In float32, by frame; those of the network's outputs that layers make.
  const std::vector<Outputs>& expected() const { return expected_; }
  /// Instead of the top answers. `conclude` is called after the last frame of each measurement; it
  /// may be empty.
  void compare_by(CompareAnswers compare, std::function<void(Loss&)> conclude = {}) {
    compare_ = std::move(compare);
    conclude_ = std::move(conclude);
  }

  /// By LayerId; all frames run once. InputError or EngineError as Engine::prepare.
  Loss measure(const std::vector<board::Variant>& variants,
               const network::Calibration* calibration = nullptr) const;

 private:
  void for_each_frame(FrameRun& run, const std::function<void(std::size_t, Outputs)>& take) const;

  Execution execution_;
  Samples samples_;
  std::function<void()> progress_;
  std::vector<TensorId> tensors_;  // the network's outputs that layers make
  std::vector<Outputs> expected_;  // by frame
  CompareAnswers compare_;         // empty: top answers
  std::function<void(Loss&)> conclude_;
};

}  // namespace millrace::profile
