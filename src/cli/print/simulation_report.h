#pragma once
// What the verb simulate found out, for people and for programs.
#include <optional>
#include <string>
#include <vector>

#include "dataflow/fraction.h"
#include "simulate/simulate.h"

namespace millrace::cli {

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

std::string simulation_text(const Simulated& simulated);
std::string simulation_json(const Simulated& simulated);

}  // namespace millrace::cli
