#include "runtime/scheduling/host.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <fstream>
#include <sstream>
#include <string>

#include "runtime/scheduling/thread_priority.h"

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

/// Only root may take the flag away again; so it stays, and does no harm.
UrgentStart::UrgentStart(bool is_asked_for) {
  if (!is_asked_for) return;
  policy_before_ = ::sched_getscheduler(0);
  sched_param wanted{};
  wanted.sched_priority = lowest_priority;
  is_changed_ = ::sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &wanted) == 0;
}

UrgentStart::~UrgentStart() {
  const sched_param none{};
  if (is_changed_) ::sched_setscheduler(0, policy_before_ | SCHED_RESET_ON_FORK, &none);
}

Time age_of_this_process() {
  std::ifstream stream("/proc/self/stat");
  std::string text;
  std::getline(stream, text);
  std::istringstream words(text.substr(std::min(text.size(), text.rfind(')') + 1)));
  constexpr int fields_before = 19;  // proc(5): the name is field 2, the begin field 22
  for (int n = 0; n < fields_before; ++n) words >> text;
  std::int64_t begin = 0;
  timespec now{};
  if (!(words >> begin) || ::clock_gettime(CLOCK_BOOTTIME, &now) != 0) return {};
  const Time began = Time(std::chrono::seconds(1)) * begin / ::sysconf(_SC_CLK_TCK);
  return std::chrono::seconds(now.tv_sec) + Time(now.tv_nsec) - began;
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
