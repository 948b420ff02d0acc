#pragma once
// Keeps a session busy and takes the time: closed loop, as many frames on their way as fit, or
// fewer.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plan/evidence.h"
#include "runtime/session.h"

namespace millrace::runtime {

struct LoadOptions {
  Time duration = std::chrono::seconds(1);  // after the warm-up
  std::uint64_t seed = 1;                   // of the random frames
  std::int64_t warmup = 4;                  // frames that do not count, beside those that fill
                                            // pipelines with offsets
  std::int64_t least = 10;                  // frames, at least
  std::int64_t in_flight = 0;               // frames on their way; 0: all that fit
  std::function<void()> between = {};       // after each frame, before each deployment; may throw
};

struct Load {
  std::int64_t frames = 0;
  Time elapsed{};
  std::vector<Time> latencies;  // in order of frames, one session's after the other's

  /// Time between two frames.
  Time period() const { return frames > 0 ? elapsed / frames : Time{}; }
};

/// One frame through an idle session.
Time first_latency(Session& session, const network::Network& network, std::uint64_t seed);

/// Runs random frames through the session, which stays usable. Where frames leave several at once,
/// full rounds of them are counted.
Load run_load(Session& session, const network::Network& network, const LoadOptions& options);

/// A session kept full that runs now and then: between its turns it is paused with its frames,
/// since to fill and to drain a pipeline takes longer than a turn.
class IntermittentLoad {
 public:
  /// `options` holds for all turns, but for duration and warm-up. Keeps a reference to the network.
  IntermittentLoad(Session session, const network::Network& network, LoadOptions options);
  IntermittentLoad(IntermittentLoad&&) noexcept;
  ~IntermittentLoad();

  /// `least`: frames, at least; nothing: as in the options.
  Load run(Time duration, std::optional<std::int64_t> least = {});
  /// How long each stage worked on a frame in the last turn. Precondition: there was one.
  const std::vector<Time>& busy() const;
  /// Paused, but before the first turn.
  Session& session();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Turns of several loads at the same time, each at its own pace: as many frames a second as all of
/// them. `between` of their options is called by several threads. Precondition: not empty.
Load run_together(std::span<IntermittentLoad> loads, Time duration);

struct Contender {
  const plan::Plan& plan;
  std::int64_t in_flight = 0;  // frames on their way; 0: all that fit
};

/// All are deployed together and measured interleaved, so that what else the machine does meets all
/// alike; each runs for the options' duration in all, or until it is clearly slower than another,
/// or the last one left, or, where a few frames take most of the time, three times. The options'
/// seed and `between` hold too. Precondition: not empty.
std::vector<plan::Measured> measure(std::span<const Contender> contenders,
                                    const network::Network& network,
                                    const std::map<std::string, engine::Engine*>& engines,
                                    const LoadOptions& options);

/// Options of a session beside another one: where both have a stage on a core, no thread spins.
SessionOptions options_beside(const plan::Plan& plan, const plan::Plan& other,
                              SessionOptions options = {});

/// Borrowed.
struct PairContender {
  const plan::Plan& first;
  const plan::Plan& second;
};
/// Borrowed.
struct PairOfNetworks {
  const network::Network& first;
  const network::Network& second;
  std::int64_t runs = 1;  // of the second one for each frame
};

/// The time between two frames of each pair, the median of rounds in which all have their turn. A
/// frame's runs of the second network begin when the first one is done, while the first one has the
/// next frames. The options' duration, seed and `between` hold. Precondition: not empty.
std::vector<Time> measure_pairs(std::span<const PairContender> contenders,
                                const PairOfNetworks& networks,
                                const std::map<std::string, engine::Engine*>& engines,
                                const LoadOptions& options);

/// The value below which `share` of the sorted samples lie (nearest rank). Precondition: not empty.
template <class Value>
Value percentile(const std::vector<Value>& sorted, double share) {
  const double rank = std::ceil(share * static_cast<double>(sorted.size()));
  return sorted[static_cast<std::size_t>(std::max(rank, 1.0)) - 1];
}

/// The same of 0.5, of samples in any order.
template <class Value>
Value median(std::vector<Value> samples) {
  std::sort(samples.begin(), samples.end());
  return percentile(samples, 0.5);
}

}  // namespace millrace::runtime
