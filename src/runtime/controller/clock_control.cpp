#include "runtime/controller/clock_control.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>
#include <utility>

#include "runtime/controller/clock_files.h"

namespace millrace::runtime {
namespace {

namespace fs = std::filesystem;

/// An open file that limits a clock.
class ClockLimit {
 public:
  explicit ClockLimit(const ClockLimitFile& file)
      : path_(file.path),
        units_each_mhz_(file.units_each_mhz),
        file_(::open(path_.c_str(), O_WRONLY | O_CLOEXEC)),
        before_(number_in(path_)) {}
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
  ClockFile before() const { return {path_, before_}; }
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

}  // namespace

struct ClockControl::Controlled {
  board::Device device;
  std::vector<ClockLimit> limits;  // none: simulated
};

namespace {

std::vector<ClockLimit> limits_of(const board::Device& device, const fs::path& root) {
  std::vector<ClockLimit> limits;
  for (const ClockLimitFile& file : clock_limits(device, root)) limits.emplace_back(file);
  return limits;
}

/// Empty: its clock can be set.
std::string obstacle(const std::vector<ClockLimit>& limits, const KeptClocks& kept) {
  if (limits.empty()) return "no interface to its clock is known";
  if (!std::ranges::all_of(limits, &ClockLimit::is_writable))
    return limits.front().path().string() + " cannot be written";
  return kept.reason();
}

}  // namespace

ClockControl::ClockControl(const deployment::Deployment& deployment, const board::Board& board,
                           SimulatedClock simulated, const ClockPlaces& places)
    : simulated_(std::move(simulated)) {
  std::set<std::string> named;
  for (const deployment::Setting& setting : deployment.settings)
    for (const auto& [name, clock] : setting.clocks) named.insert(name);
  if (!simulated_) kept_ = std::make_unique<KeptClocks>(places.root, places.note);
  if (kept_) restored_ = kept_->restored().size();
  for (const board::Device& device : board.devices) {
    if (!named.contains(device.name) || device.clocks.empty()) continue;
    if (simulated_)
      add_simulated(device);
    else
      add(device, places.root);
  }
  keep_limits();
}

void ClockControl::add_simulated(const board::Device& device) {
  if (simulated_(device, 1))
    devices_.push_back({device, {}});
  else
    staying_.push_back(
        fmt::format("device '{}': its work is done on this machine, which is not the board",
                    device.name));
}

void ClockControl::add(const board::Device& device, const fs::path& root) {
  std::vector<ClockLimit> limits = limits_of(device, root);
  const std::string found = obstacle(limits, *kept_);
  if (found.empty())
    devices_.push_back({device, std::move(limits)});
  else
    staying_.push_back(fmt::format("device '{}': {}", device.name, found));
}

/// Before the first of them is changed.
void ClockControl::keep_limits() {
  std::vector<ClockFile> limits;
  for (const Controlled& each : devices_)
    for (const ClockLimit& limit : each.limits) limits.push_back(limit.before());
  if (limits.empty()) return kept_.reset();  // others may set clocks
  if (kept_->keep(limits)) return;
  for (const Controlled& each : devices_)
    staying_.push_back(fmt::format("device '{}': what it was cannot be noted", each.device.name));
  devices_.clear();
}

ClockControl::~ClockControl() = default;

void ClockControl::set(const deployment::Clocks& clocks) {
  times_set_.fetch_add(1, std::memory_order_release);
  for (Controlled& each : devices_) {
    const board::Megahertz highest = each.device.clocks.back();
    const auto found = clocks.find(each.device.name);
    const board::Megahertz wanted = found == clocks.end() ? highest : found->second;
    for (ClockLimit& limit : each.limits) limit.set(wanted);
    if (each.limits.empty()) simulated_(each.device, highest.value / wanted.value);
  }
  times_set_.fetch_add(1, std::memory_order_release);
}

}  // namespace millrace::runtime
