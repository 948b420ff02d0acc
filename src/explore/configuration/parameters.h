#pragma once
// The parameter maximiser and the fine-tuner of the thesis on JEDI, over any whole numbers.
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace millrace::explore {

/// Threads of a pool, slots of a channel, streams of a stage.
struct Parameter {
  std::string name;
  std::int64_t value = 1, least = 1, most = 64;
  bool operator==(const Parameter&) const = default;
};
using Parameters = std::vector<Parameter>;

/// Frames per second; nothing: it cannot be, or nothing more is to be measured.
using Rate = std::function<std::optional<double>(const Parameters&)>;

/// Measurements differ by chance: less than this share is no gain.
inline constexpr double usual_noise = 0.01;

/// Raises each parameter in turn, one by one, as long as it helps; again until none helps. The
/// result's values are what more of does not help.
Parameters maximise(Parameters parameters, const Rate& rate, double noise = usual_noise);

struct FineTuning {
  double allowed_loss = 0.01;  // of the throughput, for fewer threads, streams and slots
  double noise = usual_noise;
  /// Pairs of parameters whose sum may be shared otherwise: streams of two stages of a processor.
  std::vector<std::pair<std::size_t, std::size_t>> shared = {};
  /// A parameter that must be at least as large as every other, as the slots in the thesis.
  std::optional<std::size_t> largest = {};
};

/// In three steps: more, one by one, where it helps; less of each, one by one, within the allowed
/// loss against the best seen; sums shared otherwise, where it helps.
Parameters fine_tune(Parameters parameters, const Rate& rate, const FineTuning& options);

}  // namespace millrace::explore
