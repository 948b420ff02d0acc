#pragma once
// What plans will do, without running them.
#include <optional>
#include <string>
#include <vector>

#include "product/context.h"
#include "simulate/simulated.h"

namespace millrace::product {

struct SimulatedPlan {
  std::string file;
  std::string model = {};     // its model, if that is no longer where it was
  std::string recorded = {};  // a trace: every firing takes what it took there
  simulate::Release release = {};
  Time deadline{};  // 0: none
};

struct SimulateRequest {
  std::vector<SimulatedPlan> plans;  // the first is the most urgent
  std::optional<std::int64_t> frames = {};  // of each; none: 1000, or as many as were recorded
  bool enough_in_flight = true;  // in closed loops as many frames as keep the stages busy
  simulate::Order order = simulate::Order::submitted;
  bool drawn = false;  // times between `best` and `worst` times the predicted ones
  double best = 1, worst = 1;
  simulate::Options options = {};
  bool has_powers = false;  // of processors: energy is of interest
  Context context = {};
};

simulate::Simulated simulate_plans(const SimulateRequest& request);

}  // namespace millrace::product
