#include "runtime/scheduling/clock_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <fstream>
#include <mutex>
#include <stop_token>
#include <thread>

namespace millrace::runtime {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_samples = 100'000;  // an hour of three clusters

/// In kHz; 0: the file cannot be read.
double khz_of(const fs::path& path) {
  double khz = 0;
  std::ifstream(path) >> khz;
  return khz > 0 && khz < 1e9 ? khz : 0;
}

/// The clock that the hardware has, if the user may read it, else the one that is set.
std::vector<fs::path> clock_files(const board::Device& device, const fs::path& root) {
  std::vector<fs::path> files;
  for (const int core : device.cores) {
    const fs::path cpufreq = root / fmt::format("devices/system/cpu/cpu{}/cpufreq", core);
    for (const char* name : {"cpuinfo_cur_freq", "scaling_cur_freq"})
      if (khz_of(cpufreq / name) > 0) {
        files.push_back(cpufreq / name);
        break;
      }
  }
  return files;
}

/// Mean clock by the files that can be read; 0: none can.
double mean_mhz(const std::vector<fs::path>& files) {
  double sum = 0;
  int count = 0;
  for (const fs::path& file : files)
    if (const double khz = khz_of(file); khz > 0) {
      sum += khz;
      ++count;
    }
  return count == 0 ? 0 : sum / count / 1e3;
}

/// States of the devices that lower the cores' clock when they are hot: "cpufreq-cpu4".
std::vector<fs::path> cooling_files(const board::Device& device, const fs::path& root) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator each(root / "class/thermal", error), end; !error && each != end;
       each.increment(error)) {
    std::string type;
    std::ifstream(each->path() / "type") >> type;
    for (const int core : device.cores)
      if (type == fmt::format("cpufreq-cpu{}", core)) files.push_back(each->path() / "cur_state");
  }
  return files;
}

bool is_cooled(const std::vector<fs::path>& files) {
  return std::ranges::any_of(files, [](const fs::path& file) {
    long state = 0;
    std::ifstream(file) >> state;
    return state > 0;
  });
}

}  // namespace

struct ClockWatch::State {
  struct Files {
    std::vector<fs::path> clocks, cooling;
    double sum_mhz = 0;
    std::int64_t count = 0;
  };
  ClockRecord record;  // the thread's until it has ended
  std::vector<Files> files = {};
  std::deque<ClockSample> samples = {};
  std::mutex mutex = {};
  std::condition_variable_any ended = {};
  std::jthread thread = {};

  void read() {
    for (std::size_t d = 0; d < files.size(); ++d) {
      const double mhz = mean_mhz(files[d].clocks);
      if (mhz <= 0) continue;
      files[d].sum_mhz += mhz;
      ++files[d].count;
      WatchedDevice& device = record.devices[d];
      device.mean.value = files[d].sum_mhz / static_cast<double>(files[d].count);
      device.most.value = std::max(device.most.value, mhz);
      if (is_cooled(files[d].cooling)) device.is_limited = true;
      samples.push_back({d, std::chrono::steady_clock::now(), {mhz}});
      if (samples.size() > most_samples) samples.pop_front();
    }
  }

  void watch(const std::stop_token& stop, Time interval) {
    std::unique_lock lock(mutex);
    do read();
    while (!ended.wait_for(lock, stop, interval, [&] { return stop.stop_requested(); }));
  }
};

ClockWatch::ClockWatch(const std::vector<board::Device>& devices, Time interval,
                       const fs::path& root)
    : state_(std::make_unique<State>()) {
  for (const board::Device& device : devices) {
    State::Files files{clock_files(device, root), cooling_files(device, root)};
    if (files.clocks.empty()) continue;
    state_->files.push_back(std::move(files));
    state_->record.devices.push_back(
        {device.name, device.clocks.empty() ? board::Megahertz{} : device.clocks.back()});
  }
  if (state_->files.empty()) return;
  const auto watch = [state = state_.get(), interval](const std::stop_token& stop) {
    state->watch(stop, interval);
  };
  state_->thread = std::jthread(watch);
}

ClockWatch::~ClockWatch() { stop(); }

const ClockRecord& ClockWatch::stop() {
  if (!state_->thread.joinable()) return state_->record;
  state_->thread.request_stop();
  state_->thread.join();
  state_->read();
  state_->record.samples.assign(state_->samples.begin(), state_->samples.end());
  return state_->record;
}

}  // namespace millrace::runtime
