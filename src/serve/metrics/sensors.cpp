#include "serve/metrics/sensors.h"

#include <fmt/format.h>
#include <unistd.h>

#include <fstream>

#include "runtime/bench/energy.h"

namespace millrace::serve {
namespace {

namespace fs = std::filesystem;

std::optional<double> number_in(const fs::path& file) {
  double number = 0;
  if (std::ifstream stream(file); stream >> number) return number;
  return std::nullopt;
}

std::string word_in(const fs::path& file) {
  std::string word;
  std::ifstream(file) >> word;
  return word;
}

/// Calls `visit` with each folder in `folder` whose name begins so.
template <class Visit>
void each_folder(const fs::path& folder, const std::string& begin, Visit visit) {
  std::error_code error;
  for (fs::directory_iterator each(folder, error), end; !error && each != end;
       each.increment(error))
    if (each->path().filename().string().starts_with(begin)) visit(each->path());
}

void add_zones(const fs::path& root, SensorsNow& now) {
  each_folder(root / "class/thermal", "thermal_zone", [&](const fs::path& zone) {
    if (const auto value = number_in(zone / "temp"))
      now.celsius[fmt::format("{} {}", zone.filename().string(), word_in(zone / "type"))] =
          *value / 1e3;
  });
}

/// Adds the temperatures of chips that no zone has.
void add_chips(const fs::path& root, SensorsNow& now) {
  constexpr int most_sensors = 32;
  each_folder(root / "class/hwmon", "hwmon", [&](const fs::path& chip) {
    for (int i = 1; i <= most_sensors; ++i)
      if (const auto value = number_in(chip / fmt::format("temp{}_input", i)))
        now.celsius[fmt::format("{} {} temp{}", chip.filename().string(), word_in(chip / "name"),
                                i)] = *value / 1e3;
  });
}

void add_clocks(const fs::path& root, SensorsNow& now) {
  each_folder(root / "devices/system/cpu", "cpu", [&](const fs::path& cpu) {
    if (const auto khz = number_in(cpu / "cpufreq/scaling_cur_freq"))
      now.megahertz[cpu.filename().string()] = *khz / 1e3;
  });
}

double resident_bytes() {
  double all = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

}  // namespace

Sensors::Sensors(fs::path root)
    : root_(std::move(root)), meter_(root_), sampler_(runtime::sampler_of(meter_)) {}

SensorsNow Sensors::now() {
  SensorsNow now;
  add_zones(root_, now);
  if (now.celsius.empty()) add_chips(root_, now);
  add_clocks(root_, now);
  now.resident_bytes = resident_bytes();
  const std::lock_guard lock(mutex_);
  if (!meter_.can_measure()) return now;
  joules_ += meter_.take().value_or(0);
  now.joules = joules_;
  now.source_of_energy = meter_.source();
  return now;
}

}  // namespace millrace::serve
