#pragma once
// What plans did in a simulation, for people and for programs.
#include <string>

#include "simulate/simulated.h"

namespace millrace::present {

std::string simulation_text(const simulate::Simulated& simulated);
std::string simulation_json(const simulate::Simulated& simulated);

/// Names of the plans, in one line.
std::string names_of(const simulate::Simulated& simulated);

}  // namespace millrace::present
