#pragma once
// Fills a profile by running layers on processors, one processor after the other.
#include <functional>
#include <span>
#include <string>

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
  /// Called as work goes on: what is being measured, and the share done in [0, 1]. May be empty.
  std::function<void(const std::string& what, double share)> progress;
};

/// Every layer of the network on every processor of the board. InputError if a processor cannot run
/// a layer (naming both and the engine's reason).
Profile measure(const network::Network& network, const board::Board& board, engine::Engine& engine,
                const MeasureOptions& options = {});

/// The layers as one subnet, from and to the layouts that the engine prefers.
Statistics measure_subnet(const engine::SubnetRequest& request, engine::Engine& engine,
                          const MeasureOptions& options = {});

/// tau_r and tau_w: the calling thread writes on one processor and reads on the next one. With a
/// single processor both are measured there.
TokenCosts measure_tokens(const board::Board& board);

}  // namespace millrace::profile
