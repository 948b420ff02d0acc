#include "counter.h"

#include <unistd.h>

#include <charconv>

#include "base/error.h"

namespace millrace::counting {
namespace {

constexpr long question = 0x5eed;  // a system call of which only the plug-in knows

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

}  // namespace millrace::counting
