#include "runtime/controller/clock_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>

namespace millrace::runtime {
namespace {

namespace fs = std::filesystem;

/// The devices of devfreq that are called like a device of this kind.
std::vector<fs::path> devfreq_of(const board::Device& device, const fs::path& root) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator each(root / "class/devfreq", error), end; !error && each != end;
       each.increment(error))
    if (is_called(each->path().filename().string(), device.kind)) found.push_back(each->path());
  return found;
}

}  // namespace

bool is_called(const std::string& name, board::ProcessorKind kind) {
  constexpr std::array gpus{"gpu", "mali", "gp10b", "gv11b", "ga10b", "gpusysclk"};
  const auto is_in = [&](const char* part) { return name.find(part) != std::string::npos; };
  if (kind == board::ProcessorKind::npu) return is_in("npu") || is_in("nvdla");
  return kind == board::ProcessorKind::gpu && std::ranges::any_of(gpus, is_in);
}

long long number_in(const fs::path& path) {
  long long value = -1;
  return std::ifstream(path) >> value ? value : -1;
}

std::vector<ClockLimitFile> clock_limits(const board::Device& device, const fs::path& root) {
  constexpr double khz_each_mhz = 1e3, hz_each_mhz = 1e6;
  std::vector<ClockLimitFile> limits;
  for (const int core : device.cores)
    limits.push_back(
        {root / fmt::format("devices/system/cpu/cpu{}/cpufreq/scaling_max_freq", core),
         khz_each_mhz});
  if (!limits.empty()) return limits;
  const std::vector<fs::path> found = devfreq_of(device, root);
  if (found.size() == 1) limits.push_back({found.front() / "max_freq", hz_each_mhz});
  return limits;
}

}  // namespace millrace::runtime
