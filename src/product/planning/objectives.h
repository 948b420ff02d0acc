#pragma once
// How good configurations are, for searches: simulated by several threads, or measured here.
#include <map>
#include <string>

#include "engine/engine.h"
#include "explore/configuration/configuration.h"
#include "explore/configuration/search.h"
#include "runtime/load.h"

namespace millrace::product {

/// The scores are those of explore::simulated_objective, whatever the number of threads.
explore::Objective simulated_by(const explore::SearchContext& search_context, int threads);

/// Borrowed, but the numbers.
struct Measurement {
  const explore::SearchContext& search_context;
  const std::map<std::string, engine::Engine*>& engines;
  const network::Calibration* calibration = nullptr;
  double seconds = 0.5;  // for each candidate
  std::uint64_t seed = 1;
};

/// With enough frames on their way to keep all stages busy.
std::vector<runtime::Contender> contenders_of(std::span<const plan::Assessed> plans,
                                              const network::Network& network);

/// Each candidate's plan runs by itself; subnets that an earlier one had are used again. The
/// utilisation is what the profile says of the stages, at the measured throughput.
explore::Objective measured_by(const Measurement& measurement);

/// What candidates are measured with; borrowed, but the numbers.
struct MeasuringEngines {
  const std::map<std::string, engine::Engine*>& engines;  // empty: nothing can be measured here
  const network::Calibration* calibration = nullptr;
  double seconds = 0.5;
  std::uint64_t seed = 1;
};
explore::Objectives objectives_by(const MeasuringEngines& with);

}  // namespace millrace::product
