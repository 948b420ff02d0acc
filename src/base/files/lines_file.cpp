#include "base/files/lines_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>

#include "base/error.h"

namespace millrace {
namespace {

/// All of it; the error's number if that fails.
int write_all(int file, const std::string& text) {
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t count = ::write(file, text.data() + done, text.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return count < 0 ? errno : ENOSPC;
    done += static_cast<std::size_t>(count);
  }
  return 0;
}

bool is_regular(int file) {
  struct stat status {};
  return fstat(file, &status) == 0 && S_ISREG(status.st_mode);
}

}  // namespace

LinesFile::LinesFile(const std::filesystem::path& path) : path_(path) {
  const std::filesystem::path target = target_of(path);
  if (is_special(target)) {
    file_ = open_special(target, path_);
    return;
  }
  sweep_temporaries(target.parent_path());
  temporary_.emplace(target, target.extension().string());
  file_ = ::open(temporary_->path().c_str(), O_WRONLY | O_CLOEXEC);
  if (file_ < 0) cannot_write(path_, errno);
}

LinesFile::~LinesFile() {
  if (file_ >= 0) ::close(file_);
}

void LinesFile::write(const std::string& line) {
  if (const int error = write_all(file_, line); error != 0) {
    const bool whole = !temporary_ || ::ftruncate(file_, bytes_) == 0;
    throw EngineError(fmt::format("{}: cannot be written: {}; {} lines before are {}",
                                  path_.string(), std::strerror(error), lines_,
                                  whole ? "whole" : "there, and a part of this one"));
  }
  bytes_ += static_cast<std::int64_t>(line.size());
  ++lines_;
}

void LinesFile::keep() {
  if (!temporary_ || lines_ == 0) return;
  temporary_->rename();
  temporary_.reset();
}

LinesOut::LinesOut(bool now) : now_(now || !is_regular(STDOUT_FILENO)) {}

void LinesOut::write(const std::string& line) {
  const bool written = std::fwrite(line.data(), 1, line.size(), stdout) == line.size();
  if (!written || (now_ && std::fflush(stdout) != 0)) {
    const int error = errno;
    if (error == EPIPE) throw std::system_error(error, std::generic_category(), "standard output");
    throw EngineError(
        fmt::format("standard output cannot be written: {}", std::strerror(error)));
  }
  ++lines_;
}

}  // namespace millrace
