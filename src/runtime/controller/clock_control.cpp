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

namespace millrace::runtime {
namespace {

/// An open file of cpufreq, in kHz.
class ClockLimit {
 public:
  explicit ClockLimit(int core)
      : path_(fmt::format("/sys/devices/system/cpu/cpu{}/cpufreq/scaling_max_freq", core)),
        file_(::open(path_.c_str(), O_WRONLY | O_CLOEXEC)) {
    std::ifstream(path_) >> before_;
  }
  ClockLimit(ClockLimit&& other) noexcept
      : path_(std::move(other.path_)),
        file_(std::exchange(other.file_, -1)),
        before_(other.before_) {}
  ClockLimit& operator=(ClockLimit&&) = delete;
  ~ClockLimit() {
    if (file_ < 0) return;
    if (before_ > 0) write(before_);
    ::close(file_);
  }

  bool is_writable() const { return file_ >= 0 && before_ > 0; }
  const std::string& path() const { return path_; }
  void set(board::Megahertz clock) { write(std::llround(clock.value * 1000)); }

 private:
  void write(long long kilohertz) {
    std::array<char, 24> text;
    const auto end = std::to_chars(text.data(), text.data() + text.size(), kilohertz).ptr;
    // A refusal leaves the clock higher than wanted, or as it was: tasks only take less time.
    static_cast<void>(::pwrite(file_, text.data(), static_cast<std::size_t>(end - text.data()), 0) <
                      0);
  }

  std::string path_;
  int file_;
  long long before_ = 0;
};

}  // namespace

struct ClockControl::Controlled {
  board::Device device;
  std::vector<ClockLimit> limits;  // none: simulated
};

ClockControl::ClockControl(const deployment::Deployment& deployment, const board::Board& board,
                           SimulatedClock simulated)
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
    std::vector<ClockLimit> limits;
    for (const int core : device.cores) limits.emplace_back(core);
    if (!limits.empty() && std::ranges::all_of(limits, &ClockLimit::is_writable))
      devices_.push_back({device, std::move(limits)});
    else
      staying_.push_back(
          fmt::format("device '{}': {}", device.name,
                      limits.empty() ? std::string("no interface to its clock is known")
                                     : fmt::format("{} cannot be written", limits.front().path())));
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
