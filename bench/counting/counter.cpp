#include "counter.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "base/error.h"

namespace millrace::counting {
namespace {

constexpr long question = 0x5eed;  // a system call of which only the plug-in knows

/// What the clocks show while they count.
struct Shown {
  Counter* counter = nullptr;
  std::int64_t instructions = 0, needed_to_ask = 0;
} shown;

}  // namespace

Counter::Counter(const std::string& log) : place_(log), log_(log) { take(); }

std::int64_t Counter::take() {
  ::syscall(question);
  std::string line;
  constexpr std::string_view key = "all=";
  std::int64_t number = 0;
  const bool has_line = std::getline(log_, line) && line.starts_with(key);
  const char* end = line.data() + line.size();
  if (!has_line || std::from_chars(line.data() + key.size(), end, number).ec != std::errc())
    throw InputError(place_,
                     "the emulator's plug-in wrote no counts here; start the program with "
                     "bench/instructions");
  return number;
}

InstructionClock::InstructionClock(Counter& counter) {
  counter.take();
  shown = {&counter, 0, counter.take()};
}

InstructionClock::~InstructionClock() { shown = {}; }

}  // namespace millrace::counting

/// Takes the place of the C library's, through which C++'s clocks go.
extern "C" int clock_gettime(clockid_t clock, timespec* to) noexcept {
  using millrace::counting::shown;
  if (shown.counter == nullptr) return static_cast<int>(::syscall(SYS_clock_gettime, clock, to));
  const std::int64_t passed = shown.counter->take() - shown.needed_to_ask;
  shown.instructions += std::max<std::int64_t>(passed, 0);
  constexpr std::int64_t in_second = 1'000'000'000;
  to->tv_sec = shown.instructions / in_second;
  to->tv_nsec = shown.instructions % in_second;
  return 0;
}
