#include "runtime/controller/throttle_signs.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <utility>

#include "runtime/controller/clock_files.h"

namespace millrace::runtime {
namespace {

namespace fs = std::filesystem;

/// Whether a cooling device of this type slows the device down: "cpufreq-cpu4", "thermal-cpufreq-0"
/// and ACPI's "Processor" are of cores, "devfreq-fb000000.gpu" and "17000000.gv11b" of others.
bool cools(const std::string& type, const board::Device& device) {
  if (device.cores.empty()) return is_called(type, device.kind);
  if (type.starts_with("thermal-cpufreq") || type == "Processor") return true;
  return std::ranges::any_of(device.cores, [&](int core) {
    return type == fmt::format("cpufreq-cpu{}", core);
  });
}

}  // namespace

ThrottleSigns::ThrottleSigns(const std::vector<board::Device>& devices, const fs::path& root) {
  for (const board::Device& device : devices) {
    add_cooling(device, root);
    add_counters(device, root);
    add_limits(device, root);
  }
}

void ThrottleSigns::add_cooling(const board::Device& device, const fs::path& root) {
  std::error_code error;
  for (fs::directory_iterator each(root / "class/thermal", error), end; !error && each != end;
       each.increment(error)) {
    std::string type;
    std::ifstream(each->path() / "type") >> type;
    if (cools(type, device))
      signs_.push_back({Kind::state, each->path() / "cur_state",
                        fmt::format("device '{}' is cooled by '{}'", device.name, type), 0});
  }
}

void ThrottleSigns::add_counters(const board::Device& device, const fs::path& root) {
  for (const int core : device.cores) {
    const fs::path file =
        root / fmt::format("devices/system/cpu/cpu{}/thermal_throttle/core_throttle_count", core);
    if (const long long now = number_in(file); now >= 0)
      signs_.push_back({Kind::counter, file,
                        fmt::format("device '{}': core {} was throttled", device.name, core), now});
  }
}

void ThrottleSigns::add_limits(const board::Device& device, const fs::path& root) {
  for (const ClockLimitFile& limit : clock_limits(device, root))
    if (const long long now = number_in(limit.path); now > 0)
      signs_.push_back({Kind::limit, limit.path,
                        fmt::format("device '{}': its highest clock was lowered", device.name),
                        now});
}

bool ThrottleSigns::is_seen(Sign& sign, bool is_new) {
  const long long now = number_in(sign.file);
  if (sign.kind == Kind::state) return now > 0;
  if (sign.kind == Kind::counter) return now > std::exchange(sign.before, now);
  if (is_new) sign.before = now;
  return now > 0 && now < sign.before;
}

std::string ThrottleSigns::look(std::uint64_t times_set) {
  const bool is_new = std::exchange(times_set_, times_set) != times_set;
  std::string found;
  for (Sign& sign : signs_)
    if (is_seen(sign, is_new) && found.empty()) found = sign.text;
  return found;
}

}  // namespace millrace::runtime
