#pragma once
// What a deployment did on a drive, for people and for programs.
#include <string>

#include "simulate/drive.h"

namespace millrace::present {

std::string drive_text(const simulate::SimulatedDrive& simulated);
std::string drive_json(const simulate::SimulatedDrive& simulated);

}  // namespace millrace::present
