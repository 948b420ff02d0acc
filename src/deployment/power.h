#pragma once
// What a deployment draws: the board's power at each clock, and how long tasks are busy.
#include <string>
#include <vector>

#include "deployment/deployment.h"

namespace millrace::deployment {

/// Power of one processor while nothing runs; 0: the board does not say.
double still_mw(const board::Device& device, const Clocks& clocks);
/// What the task adds while it runs: what was measured at the highest clock, or what the board
/// says; it changes with the clock as the board's.
double busy_mw(const board::Device& device, const Clocks& clocks, const Task& task);

struct DevicePower {
  std::string device;
  double still_mw = 0;  // of all its processors
  double busy_mw = 0;   // what the tasks add on average
};

/// Power of each device of which the board knows it; empty: of none. Tasks take their average
/// times.
std::vector<DevicePower> expected_power(const Deployment& deployment, const board::Board& board,
                                        const Operation& operation);

}  // namespace millrace::deployment
