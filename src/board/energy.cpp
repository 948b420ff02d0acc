#include "board/energy.h"

#include <algorithm>
#include <fstream>

namespace millrace::board {
namespace {

namespace fs = std::filesystem;

std::optional<std::int64_t> number_in(const fs::path& path) {
  std::ifstream file(path);
  std::int64_t value = 0;
  if (!(file >> value) || value < 0) return std::nullopt;
  return value;
}

/// "package-0", "dram"; cores and graphics are parts of a package, "psys" is all of the machine.
bool counts(const fs::path& zone) {
  std::ifstream file(zone / "name");
  std::string name;
  file >> name;
  return name.starts_with("package") || name == "dram";
}

std::vector<fs::path> zones_in(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> zones;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error))
    if (entry->path().filename().string().starts_with("intel-rapl:") && counts(entry->path()))
      zones.push_back(entry->path());
  std::sort(zones.begin(), zones.end());
  return zones;
}

}  // namespace

EnergyMeter::EnergyMeter(const fs::path& folder) {
  const std::vector<fs::path> zones = zones_in(folder);
  if (zones.empty()) reason_ = "this machine has no energy counters in " + folder.string();
  for (const fs::path& zone : zones) {
    const auto now = number_in(zone / "energy_uj"), range = number_in(zone / "max_energy_range_uj");
    if (!now || !range) {
      reason_ = (zone / "energy_uj").string() + " cannot be read; only root may, on most systems";
      zones_.clear();
      return;
    }
    zones_.push_back({zone / "energy_uj", *now, *range});
  }
}

std::optional<double> EnergyMeter::take() {
  std::int64_t sum = 0;
  bool all = can_measure();
  for (Zone& zone : zones_) {
    const auto now = number_in(zone.counter);
    all = all && now.has_value();
    if (!now) continue;
    sum += *now - zone.last + (*now < zone.last ? zone.range : 0);
    zone.last = *now;
  }
  if (!all) return std::nullopt;
  return static_cast<double>(sum) * 1e-6;
}

}  // namespace millrace::board
