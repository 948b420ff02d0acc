#include "runtime/controller/kept_clocks.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <sstream>

#include "board/user_folder.h"

namespace millrace::runtime {
namespace {

namespace fs = std::filesystem;

/// Another one after each start of the machine, which sets all limits anew.
std::string boot_id() {
  std::string id;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> id;
  return id;
}

std::string content_of(int file) {
  std::string content;
  std::array<char, 4096> piece;
  for (ssize_t got = 0;
       (got = ::pread(file, piece.data(), piece.size(), static_cast<off_t>(content.size()))) > 0;)
    content.append(piece.data(), static_cast<std::size_t>(got));
  return content;
}

bool is_below(const fs::path& path, const fs::path& root) {
  const std::string whole = path.lexically_normal().string();
  return whole.starts_with((root / "").lexically_normal().string());
}

}  // namespace

KeptClocks::KeptClocks(const fs::path& root, const fs::path& note)
    : file_(note.empty() ? board::open_in_user_folder("clocks")
                         : ::open(note.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
  if (file_ < 0) {
    reason_ = "what it was cannot be noted, and it would stay changed if this run were killed";
    return;
  }
  is_locked_ = ::flock(file_, LOCK_EX | LOCK_NB) == 0;
  if (is_locked_)
    restore(root);
  else
    reason_ = "another run sets clocks on this machine";
}

KeptClocks::~KeptClocks() {
  if (file_ < 0) return;
  if (is_locked_) keep({});
  ::close(file_);
}

void KeptClocks::restore(const fs::path& root) {
  std::istringstream lines(content_of(file_));
  std::string boot;
  std::getline(lines, boot);
  if (boot != boot_id()) return;
  ClockFile limit;
  for (std::string path; lines >> limit.value && std::getline(lines >> std::ws, path);) {
    limit.path = path;
    if (!is_below(limit.path, root)) continue;
    std::ofstream(limit.path) << limit.value;
    restored_.push_back(limit);
  }
}

bool KeptClocks::keep(const std::vector<ClockFile>& limits) {
  if (!is_locked_ || ::ftruncate(file_, 0) != 0) return false;
  if (limits.empty()) return true;
  std::ostringstream text;
  text << boot_id() << '\n';
  for (const ClockFile& limit : limits) text << limit.value << ' ' << limit.path.string() << '\n';
  const std::string content = text.str();
  return ::pwrite(file_, content.data(), content.size(), 0) ==
         static_cast<ssize_t>(content.size());
}

}  // namespace millrace::runtime
