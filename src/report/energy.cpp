#include "report/energy.h"

#include <fmt/format.h>

#include "report/table.h"

namespace millrace::report {

std::string energy_text(const std::vector<board::DeviceEnergy>& energies) {
  if (energies.empty()) return {};
  Table table(
      {{"energy per frame", Align::left}, {"always drawn"}, {"while working"}, {"together"}});
  const auto text = [](double value) { return four_digits(value) + " mJ"; };
  board::DeviceEnergy all{"together"};
  for (const board::DeviceEnergy& each : energies) {
    table.add({each.device, text(each.still_mj), text(each.busy_mj), text(each.together_mj())});
    all.still_mj += each.still_mj;
    all.busy_mj += each.busy_mj;
  }
  table.add_rule();
  table.add({all.device, text(all.still_mj), text(all.busy_mj), text(all.together_mj())});
  return table.text() + "by the board's table of power, at the highest clocks\n";
}

nlohmann::json energy_json(const std::vector<board::DeviceEnergy>& energies) {
  nlohmann::json result = nlohmann::json::array();
  for (const board::DeviceEnergy& each : energies)
    result.push_back({{"device", each.device},
                      {"always_mj", each.still_mj},
                      {"working_mj", each.busy_mj},
                      {"energy_mj", each.together_mj()}});
  return result;
}

}  // namespace millrace::report
