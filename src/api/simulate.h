#pragma once
// What plans will do, without running them.
#include <optional>
#include <string>
#include <vector>

#include "api/context.h"
#include "dataflow/fraction.h"
#include "simulate/simulate.h"

namespace millrace::api {

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

struct Simulated {
  std::vector<std::string> files;  // by application, like the rest
  std::vector<simulate::Application> applications;
  std::vector<std::optional<dataflow::Fraction>> bounds;  // nanoseconds per frame of the plan's own
                                                          // graph, each phase at its best, or
                                                          // as recorded on the average
  std::vector<std::optional<simulate::ApplicationResult>> recorded;  // what came of those frames
  simulate::Result result;
  std::string times = "fixed";  // or "drawn", "recorded"
  std::uint64_t seed = 1;
  bool has_powers = false;
  Time took{};  // to simulate
};

Simulated simulate_plans(const SimulateRequest& request);

}  // namespace millrace::api
