#include "runtime/scheduling/host.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

namespace millrace::runtime {
namespace {

std::optional<std::int64_t> number_in(const char* file) {
  std::ifstream stream(file);
  std::int64_t number = 0;
  if (stream >> number) return number;
  return std::nullopt;
}

Verdict lock_all_memory() {
  if (::mlockall(MCL_CURRENT | MCL_FUTURE) == 0) return Verdict::yes();
  return Verdict::no(
      fmt::format("memory cannot be locked ({}); run as root, or set `ulimit -l "
                  "unlimited`",
                  std::strerror(errno)));
}

}  // namespace

LockedMemory::LockedMemory() : verdict_(lock_all_memory()) {}

LockedMemory::~LockedMemory() {
  if (verdict_) ::munlockall();
}

std::optional<Throttling> real_time_throttling() {
  const auto runtime = number_in("/proc/sys/kernel/sched_rt_runtime_us");
  const auto period = number_in("/proc/sys/kernel/sched_rt_period_us");
  if (!runtime || !period || *runtime < 0 || *runtime >= *period) return std::nullopt;
  return Throttling{std::chrono::microseconds(*runtime), std::chrono::microseconds(*period)};
}

Time stolen_from(int core) {
  std::ifstream stream("/proc/stat");
  const std::string wanted = fmt::format("cpu{}", core);
  for (std::string line; std::getline(stream, line);) {
    std::istringstream words(line);
    std::string name;
    std::int64_t user = 0, nice = 0, system = 0, idle = 0, io = 0, irq = 0, soft = 0, steal = 0;
    words >> name >> user >> nice >> system >> idle >> io >> irq >> soft >> steal;
    if (name != wanted || !words) continue;
    return Time(std::chrono::seconds(1)) * steal / ::sysconf(_SC_CLK_TCK);
  }
  return {};
}

Time stolen_from(const std::vector<int>& cores) {
  Time sum{};
  for (const int core : cores) sum += stolen_from(core);
  return sum;
}

Bytes resident_memory() {
  std::ifstream stream("/proc/self/statm");
  std::int64_t total = 0, resident = 0;
  stream >> total >> resident;
  return Bytes{resident * ::sysconf(_SC_PAGESIZE)};
}

}  // namespace millrace::runtime
