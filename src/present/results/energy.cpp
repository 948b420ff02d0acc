#include "present/results/energy.h"

#include "present/description.h"

namespace millrace::present {
namespace {

Value energy_value(double millijoules) { return {millijoules, four_digits(millijoules) + " mJ"}; }

const Description<board::DeviceEnergy>& energy_fields() {
  using Energy = board::DeviceEnergy;
  static const Description<Energy> fields({
      {"device", "energy per frame", &Energy::device},
      {"board", nullptr, [](const Energy& e) { return or_null(e.board); }},
      {"always_mj", "always drawn", [](const Energy& e) { return energy_value(e.still_mj); }},
      {"working_mj", "while working", [](const Energy& e) { return energy_value(e.busy_mj); }},
      {"energy_mj", "together", [](const Energy& e) { return energy_value(e.together_mj()); }},
  });
  return fields;
}

}  // namespace

std::string energy_text(const std::vector<board::DeviceEnergy>& energies) {
  if (energies.empty()) return {};
  board::DeviceEnergy all{"together"};
  for (const board::DeviceEnergy& each : energies) {
    all.still_mj += each.still_mj;
    all.busy_mj += each.busy_mj;
  }
  const std::vector<board::DeviceEnergy> boards = board::energy_by_board(energies);
  const std::string by_board = boards.empty() ? "" : "\n" + energy_fields().text(boards);
  return energy_fields().text(energies, all) + by_board +
         "by the board's table of power, at the highest clocks\n";
}

nlohmann::json energy_json(const std::vector<board::DeviceEnergy>& energies) {
  return energy_fields().array(energies);
}

}  // namespace millrace::present
