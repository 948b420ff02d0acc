#pragma once
// What a frame costs in energy, by device.
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "board/power.h"

namespace millrace::present {

/// A table with its sum; empty if nothing is known.
std::string energy_text(const std::vector<board::DeviceEnergy>& energies);
/// An array by device; empty: nothing is known.
nlohmann::json energy_json(const std::vector<board::DeviceEnergy>& energies);

}  // namespace millrace::present
