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

/// Frames per second. Nothing if these parameters cannot run, or if the budget is spent.
using Rate = std::function<std::optional<double>(const Parameters&)>;

/// Measurements vary: a smaller share than this is no gain.
inline constexpr double usual_noise = 0.01;

/// Pairs of parameters, by their numbers.
using ParameterPairs = std::vector<std::pair<std::size_t, std::size_t>>;

/// Raises one parameter after the other as long as the rate grows, and repeats until none grows it.
/// A larger value of any parameter would not help, nor of both of a pair of `together`: threads
/// before and behind the network may hold up the frames alike.
Parameters maximise(Parameters parameters, const Rate& rate, const ParameterPairs& together = {},
                    double noise = usual_noise);

struct FineTuning {
  double allowed_loss = 0.01;  // share of the throughput; pays for fewer threads, streams and slots
  double noise = usual_noise;
  /// Pairs whose sum stays the same while it is divided in another way, such as the streams of two
  /// stages on one processor.
  ParameterPairs shared = {};
  ParameterPairs together = {};  // as in maximise()
  /// A parameter that must be at least as large as every other, as the slots in the thesis.
  std::optional<std::size_t> largest = {};
};

/// Three steps: raise parameters where it helps; lower them within the allowed loss against the
/// best rate; divide the sums of `shared` in another way where it helps.
Parameters fine_tune(Parameters parameters, const Rate& rate, const FineTuning& options);

}  // namespace millrace::explore
