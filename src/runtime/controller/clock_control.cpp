#include "runtime/controller/clock_control.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fstream>
#include <set>
#include <utility>

namespace millrace::runtime {
namespace {

namespace fs = std::filesystem;

/// An open file of cpufreq, in kHz, or of devfreq, in Hz.
class ClockLimit {
 public:
  ClockLimit(fs::path path, double units_each_mhz)
      : path_(std::move(path)),
        units_each_mhz_(units_each_mhz),
        file_(::open(path_.c_str(), O_WRONLY | O_CLOEXEC)) {
    std::ifstream(path_) >> before_;
  }
  ClockLimit(ClockLimit&& other) noexcept
      : path_(std::move(other.path_)),
        units_each_mhz_(other.units_each_mhz_),
        file_(std::exchange(other.file_, -1)),
        before_(other.before_) {}
  ClockLimit& operator=(ClockLimit&&) = delete;
  ~ClockLimit() {
    if (file_ < 0) return;
    if (before_ > 0) write(before_);
    ::close(file_);
  }

  bool is_writable() const { return file_ >= 0 && before_ > 0; }
  const fs::path& path() const { return path_; }
  void set(board::Megahertz clock) { write(std::llround(clock.value * units_each_mhz_)); }

 private:
  void write(long long units) {
    std::array<char, 24> text;
    const auto end = std::to_chars(text.data(), text.data() + text.size(), units).ptr;
    // A refusal leaves the clock higher than wanted, or as it was: tasks only take less time.
    static_cast<void>(::pwrite(file_, text.data(), static_cast<std::size_t>(end - text.data()), 0) <
                      0);
  }

  fs::path path_;
  double units_each_mhz_ = 1;
  int file_;
  long long before_ = 0;
};

/// How drivers call GPUs and NPUs in devfreq: 17000000.gv11b, fb000000.gpu, fdab0000.npu.
bool is_called(const std::string& name, board::ProcessorKind kind) {
  constexpr std::array gpus{"gpu", "mali", "gp10b", "gv11b", "ga10b", "gpusysclk"};
  const auto is_in = [&](const char* part) { return name.find(part) != std::string::npos; };
  if (kind == board::ProcessorKind::npu) return is_in("npu") || is_in("nvdla");
  return kind == board::ProcessorKind::gpu && std::ranges::any_of(gpus, is_in);
}

/// The one of devfreq that is called like a device of this kind.
std::vector<fs::path> devfreq_of(const board::Device& device, const fs::path& root) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator each(root / "class/devfreq", error), end; !error && each != end;
       each.increment(error))
    if (is_called(each->path().filename().string(), device.kind)) found.push_back(each->path());
  return found;
}

std::vector<ClockLimit> limits_of(const board::Device& device, const fs::path& root) {
  constexpr double khz_each_mhz = 1e3, hz_each_mhz = 1e6;
  std::vector<ClockLimit> limits;
  for (const int core : device.cores)
    limits.emplace_back(
        root / fmt::format("devices/system/cpu/cpu{}/cpufreq/scaling_max_freq", core),
        khz_each_mhz);
  if (!limits.empty()) return limits;
  const std::vector<fs::path> found = devfreq_of(device, root);
  if (found.size() == 1) limits.emplace_back(found.front() / "max_freq", hz_each_mhz);
  return limits;
}

}  // namespace

struct ClockControl::Controlled {
  board::Device device;
  std::vector<ClockLimit> limits;  // none: simulated
};

ClockControl::ClockControl(const deployment::Deployment& deployment, const board::Board& board,
                           SimulatedClock simulated, const fs::path& root)
    : simulated_(std::move(simulated)) {
  std::set<std::string> named;
  for (const deployment::Setting& setting : deployment.settings)
    for (const auto& [name, clock] : setting.clocks) named.insert(name);
  for (const board::Device& device : board.devices) {
    if (!named.contains(device.name) || device.clocks.empty()) continue;
    if (simulated_) {
      if (simulated_(device, 1))
        devices_.push_back({device, {}});
      else
        staying_.push_back(fmt::format(
            "device '{}': its work is done on this machine, which is not the board", device.name));
      continue;
    }
    std::vector<ClockLimit> limits = limits_of(device, root);
    if (!limits.empty() && std::ranges::all_of(limits, &ClockLimit::is_writable))
      devices_.push_back({device, std::move(limits)});
    else
      staying_.push_back(
          fmt::format("device '{}': {}", device.name,
                      limits.empty()
                          ? std::string("no interface to its clock is known")
                          : limits.front().path().string() + " cannot be written"));
  }
}

ClockControl::~ClockControl() = default;

void ClockControl::set(const deployment::Clocks& clocks) {
  for (Controlled& each : devices_) {
    const board::Megahertz highest = each.device.clocks.back();
    const auto found = clocks.find(each.device.name);
    const board::Megahertz wanted = found == clocks.end() ? highest : found->second;
    for (ClockLimit& limit : each.limits) limit.set(wanted);
    if (each.limits.empty()) simulated_(each.device, highest.value / wanted.value);
  }
}

}  // namespace millrace::runtime
