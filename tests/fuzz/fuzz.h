#pragma once
// What the fuzz targets share. A reader of files that may come from anywhere answers wrong ones
// with an InputError or an EngineError; whatever else happens, libFuzzer reports.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace millrace::fuzz {

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// Ends the program if it lives longer than this, in time of the processor: what else runs on the
/// machine does not count.
class TimeLimit {
 public:
  ~TimeLimit() {
    constexpr double most_seconds = 10;
    const double took = static_cast<double>(std::clock() - begin_) / CLOCKS_PER_SEC;
    if (took <= most_seconds) return;
    std::fprintf(stderr, "This input took %.1f seconds of the processor's time.\n", took);
    std::abort();
  }

 private:
  std::clock_t begin_ = std::clock();
};

/// Runs it; the two errors are as good as none.
template <class Read>
int attempt(const Read& read) {
  const TimeLimit limit;
  try {
    read();
  } catch (const InputError&) {
  } catch (const EngineError&) {
  }
  return 0;
}

/// A file in memory, for readers that take a path.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view content) : file_(::memfd_create("fuzz", MFD_CLOEXEC)) {
    const auto size = static_cast<ssize_t>(content.size());
    if (file_ < 0 || ::write(file_, content.data(), content.size()) != size) std::abort();
  }
  ~MemoryFile() { ::close(file_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::filesystem::path path() const { return "/proc/self/fd/" + std::to_string(file_); }

 private:
  int file_;
};

}  // namespace millrace::fuzz
