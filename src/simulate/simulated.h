#pragma once
// What a simulation of plans came to, beside what was asked.
#include <optional>
#include <string>
#include <vector>

#include "board/power.h"
#include "dataflow/fraction.h"
#include "simulate/simulate.h"

namespace millrace::simulate {

struct Simulated {
  std::vector<std::string> files;  // by application, like the rest
  std::vector<Application> applications;
  std::vector<std::optional<dataflow::Fraction>> bounds;  // nanoseconds per frame of the plan's own
                                                          // graph, each phase at its best, or
                                                          // as recorded on the average
  std::vector<std::optional<ApplicationResult>> recorded;  // what came of those frames
  Result result;
  std::string times = "fixed";  // or "drawn", "recorded"
  std::uint64_t seed = 1;
  bool has_powers = false;
  std::vector<board::DeviceEnergy> energy = {};  // of a frame, by the board's table of power
  std::vector<std::string> borders = {};         // how long tensors come in and go out, for people
  std::vector<std::string> feeding = {};         // which cores feed which devices, for people
  Time took{};                                   // to simulate
};

}  // namespace millrace::simulate
