#pragma once
// What the verb simulate found out, for people and for programs.
#include <string>

#include "api/simulate.h"

namespace millrace::cli {

std::string simulation_text(const api::Simulated& simulated);
std::string simulation_json(const api::Simulated& simulated);

}  // namespace millrace::cli
