#include "board/energy.h"

#include <algorithm>
#include <fstream>
#include <set>

namespace millrace::board {
namespace {

namespace fs = std::filesystem;

constexpr double most_watts = 10'000;  // of any machine that this runs on

std::optional<std::int64_t> number_in(const fs::path& path) {
  std::ifstream file(path);
  std::int64_t value = 0;
  if (!(file >> value) || value < 0) return std::nullopt;
  return value;
}

std::string word_in(const fs::path& path) {
  std::ifstream file(path);
  std::string word;
  file >> word;
  return word;
}

/// Sorted; links among them are followed.
std::vector<fs::path> entries_of(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> entries;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error))
    entries.push_back(entry->path());
  std::sort(entries.begin(), entries.end());
  return entries;
}

/// "package-0", "dram"; cores and graphics are parts of a package, "psys" is all of the machine.
bool counts(const fs::path& zone) {
  const std::string name = word_in(zone / "name");
  return name.starts_with("package") || name == "dram";
}

std::vector<fs::path> zones_in(const fs::path& folder) {
  std::vector<fs::path> zones;
  for (const fs::path& entry : entries_of(folder))
    if (entry.filename().string().starts_with("intel-rapl:") && counts(entry))
      zones.push_back(entry);
  return zones;
}

/// Each once, though the system shows them in several places.
std::vector<fs::path> monitors_in(const fs::path& root) {
  std::vector<fs::path> found = entries_of(root / "class/hwmon");
  for (const fs::path& device : entries_of(root / "bus/i2c/devices"))
    for (const fs::path& monitor : entries_of(device / "hwmon")) found.push_back(monitor);
  std::set<fs::path> seen;
  std::erase_if(found, [&](const fs::path& monitor) {
    std::error_code error;
    return !seen.insert(fs::canonical(monitor, error)).second;
  });
  return found;
}

}  // namespace

EnergyMeter::EnergyMeter(const fs::path& root) {
  if (!find_rapl(root) && reason_.empty()) find_sensors(root);
  if (!can_measure() && reason_.empty()) find_battery(root);
  if (can_measure())
    reason_.clear();
  else if (reason_.empty())
    reason_ =
        fs::exists(root / "class/power_supply")
            ? "this machine has no energy counters (RAPL), no INA sensors and no battery that "
              "discharges"
            : "this machine has no energy counters in " + (root / "class/powercap").string();
  last_take_ = last_sample_ = Clock::now();
}

bool EnergyMeter::find_rapl(const fs::path& root) {
  for (const fs::path& zone : zones_in(root / "class/powercap")) {
    const auto now = number_in(zone / "energy_uj"), range = number_in(zone / "max_energy_range_uj");
    if (!now || !range) {
      reason_ = (zone / "energy_uj").string() + " cannot be read; only root may, on most systems";
      counters_.clear();
      return false;
    }
    counters_.push_back({zone / "energy_uj", 1e-6, *now, *range, false});
  }
  if (!counters_.empty()) source_ = "RAPL";
  return !counters_.empty();
}

/// Takes sockets alone, as amd_energy counts the cores too; an INA sensor counts what it measures.
void EnergyMeter::find_energies(const fs::path& monitor, bool is_sensor) {
  constexpr int most_inputs = 512;
  for (int number = 1; number <= most_inputs; ++number) {
    const std::string name = "energy" + std::to_string(number);
    const auto now = number_in(monitor / (name + "_input"));
    if (!now) break;
    if (is_sensor || word_in(monitor / (name + "_label")).starts_with("Esocket"))
      counters_.push_back({monitor / (name + "_input"), 1e-6, *now, 0, false});
  }
}

/// INA228 counts energy, INA3221 has three rails of voltage and current, the others one of power.
void EnergyMeter::find_sensors(const fs::path& root) {
  for (const fs::path& monitor : monitors_in(root)) {
    const std::string name = word_in(monitor / "name");
    const bool is_ina = name.starts_with("ina");
    const std::size_t before = counters_.size();
    if (is_ina || name == "amd_energy") find_energies(monitor, is_ina);
    if (!is_ina || counters_.size() > before) continue;
    for (int number = 1; number <= 3; ++number) {
      const std::string n = std::to_string(number);
      Rail rail{monitor / ("power" + n + "_input"), monitor / ("in" + n + "_input"),
                monitor / ("curr" + n + "_input")};
      if (!number_in(rail.power)) rail.power.clear();
      if (watts_of(rail)) rails_.push_back(std::move(rail));
    }
  }
  if (can_measure()) source_ = rails_.empty() ? "energy counters of hwmon" : "INA sensors";
}

void EnergyMeter::find_battery(const fs::path& root) {
  for (const fs::path& supply : entries_of(root / "class/power_supply")) {
    if (word_in(supply / "type") != "Battery" || word_in(supply / "status") != "Discharging")
      continue;
    constexpr double joules_of_microwatt_hour = 3600e-6;
    const auto now = number_in(supply / "energy_now");
    if (now) counters_.push_back({supply / "energy_now", joules_of_microwatt_hour, *now, 0, true});
  }
  if (!counters_.empty()) source_ = "battery";
}

std::optional<double> EnergyMeter::watts_of(const Rail& rail) {
  if (!rail.power.empty()) {
    const auto microwatts = number_in(rail.power);
    if (!microwatts) return std::nullopt;
    return static_cast<double>(*microwatts) * 1e-6;
  }
  const auto millivolts = number_in(rail.voltage), milliamperes = number_in(rail.current);
  if (!millivolts || !milliamperes) return std::nullopt;
  return static_cast<double>(*millivolts) * static_cast<double>(*milliamperes) * 1e-6;
}

void EnergyMeter::sample(Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  const double elapsed = std::chrono::duration<double>(now - last_sample_).count();
  last_sample_ = now;
  for (const Rail& rail : rails_) {
    const auto watts = watts_of(rail);
    readable_ = readable_ && watts && *watts <= most_watts && elapsed >= 0;
    if (watts) sampled_ += *watts * elapsed;
  }
}

std::optional<double> EnergyMeter::joules_of(Counter& counter, double seconds) const {
  const auto now = number_in(counter.file);
  if (!now) return std::nullopt;
  std::int64_t used = counter.falls ? counter.last - *now : *now - counter.last;
  if (used < 0 && counter.range > 0) used += counter.range;
  counter.last = *now;
  const double joules = static_cast<double>(used) * counter.joules_each;
  constexpr double shortest = 0.01;  // counters are not read at one instant
  if (used < 0 || joules > most_watts * std::max(seconds, shortest)) return std::nullopt;
  return joules;
}

std::optional<double> EnergyMeter::take(Clock::time_point now) {
  if (needs_samples()) sample(now);
  const std::lock_guard lock(mutex_);
  const double elapsed = std::chrono::duration<double>(now - last_take_).count();
  last_take_ = now;
  double sum = sampled_;
  bool all = can_measure() && readable_;
  for (Counter& counter : counters_) {
    const auto joules = joules_of(counter, elapsed);
    all = all && joules.has_value();
    sum += joules.value_or(0);
  }
  sampled_ = 0;
  readable_ = true;
  if (!all) return std::nullopt;
  return sum;
}

}  // namespace millrace::board
