#pragma once
// Fills a profile by running layers on processors, one processor after the other.
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "profile/profile.h"

namespace millrace::profile {

struct MeasureOptions {
  int warmup = 2;                                  // runs not counted
  int least = 10;                                  // repetitions, at least
  int most = 100;                                  // repetitions, at most
  Time duration = std::chrono::milliseconds(500);  // enough time for one measurement
  bool alone = true;       // also measure the members of fused groups as subnets of their own
  std::uint64_t seed = 1;  // of the random inputs
  std::vector<board::Precision> precisions{board::Precision::f32};
  /// Variants with a larger error are left out. Nothing: 1e-3 for f32, no bound for the others.
  std::optional<double> max_error;
  const network::Calibration* calibration = nullptr;  // borrowed; needed for int8
  /// Calls the `others` again and again, each on a thread of its own, until `work` is done; for
  /// `contended`. Empty: that is not measured. runtime::under_background_load is one.
  std::function<void(std::span<const std::function<void()>> others,
                     const std::function<void()>& work)>
      under_background_load;
  /// Calls work(i) for each i < `count` on threads bound to these cores; for what is not timed.
  /// Empty: that is done on the calling thread. runtime::in_parallel is one.
  std::function<void(std::span<const int> cores, std::size_t count,
                     const std::function<void(std::size_t)>& work)>
      in_parallel;
  /// Called as work goes on: what is being measured, and the share done in [0, 1]. May be empty.
  std::function<void(const std::string& what, double share)> progress;
  /// Called between runs; what it throws ends the measurement. May be empty.
  std::function<void()> look = {};
};

/// The bound on the error of variants of a precision that these options mean.
std::optional<double> max_error_of(const MeasureOptions& options, board::Precision precision);

/// Whether the engine offers anything there in the precision. float32 it has as a rule.
Verdict offers(const network::Network& network, engine::Engine& engine,
               const board::Processor& processor, board::Precision precision);

/// Every layer of the network on every processor of the board, in every precision asked for, each
/// in its best variant. InputError if a processor cannot run a layer (naming both and the engine's
/// reason), has no layer in a precision, or if no variant meets the bound on the error.
Profile measure(const network::Network& network, const board::Board& board, engine::Engine& engine,
                const MeasureOptions& options = {});

/// The layers as one subnet, from and to the layouts that the engine prefers.
Statistics measure_subnet(const engine::SubnetRequest& request, engine::Engine& engine,
                          const MeasureOptions& options = {});

/// tau_r and tau_w: the calling thread writes on one processor and reads on the next one. With a
/// single processor both are measured there.
TokenCosts measure_tokens(const board::Board& board);

}  // namespace millrace::profile
