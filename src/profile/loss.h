#pragma once
// What other precisions cost in accuracy: outputs beside those in float32, frame by frame.
#include <functional>
#include <vector>

#include "profile/frame_run.h"

namespace millrace::profile {

struct Loss {
  std::int64_t frames = 0;
  std::int64_t changed = 0;  // frames whose top answer is another one
  // Per frame: the largest difference over the largest value of the same output in float32; the
  // worst output counts.
  double mean_error = 0, largest_error = 0;
  double changed_share() const;
  bool operator==(const Loss&) const = default;
};

/// The top answer of a frame: by row of the first output, where its largest value stands; or, if
/// the output holds integers, what it holds.
std::vector<std::int64_t> top_answer(const network::Array& output);

/// Of one frame. Both in the order of network.outputs.
void add_frame(Loss& loss, std::span<const network::Array> expected,
               std::span<const network::Array> found);

/// Keeps the outputs in float32 of all frames, to compare with.
class LossMeter {
 public:
  /// Runs all frames. `progress` is called after each frame, here and later; it may be empty, and
  /// may throw to stop. InputError as calibrate(); EngineError.
  LossMeter(const Execution& execution, const Samples& samples,
            std::function<void()> progress = {});

  /// By LayerId; all frames run once. InputError or EngineError as Engine::prepare.
  Loss measure(const std::vector<board::Variant>& variants,
               const network::Calibration* calibration = nullptr) const;

 private:
  using Outputs = std::vector<network::Array>;
  void for_each_frame(FrameRun& run, const std::function<void(std::size_t, Outputs)>& take) const;

  Execution execution_;
  Samples samples_;
  std::function<void()> progress_;
  std::vector<TensorId> tensors_;  // the network's outputs that layers make
  std::vector<Outputs> expected_;  // by frame
};

}  // namespace millrace::profile
