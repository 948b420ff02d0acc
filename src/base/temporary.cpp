#include "base/temporary.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <random>

#include "base/error.h"

namespace millrace {
namespace {

std::uint64_t random_number() {
  std::random_device device;
  return (std::uint64_t{device()} << 32) | device();
}

}  // namespace

void cannot_write(const std::filesystem::path& path, int error) {
  throw EngineError(fmt::format("{}: cannot be written: {}", path.string(),
                                error != 0 ? std::strerror(error) : "the disk refused the data"));
}

std::filesystem::path target_of(const std::filesystem::path& path) {
  std::error_code error;
  const std::filesystem::path target = std::filesystem::canonical(path, error);
  if (error) return path;  // new
  if (std::filesystem::is_directory(target)) cannot_write(path, EISDIR);
  return target;
}

bool is_special(const std::filesystem::path& target) {
  std::error_code error;
  const auto status = std::filesystem::status(target, error);
  return std::filesystem::exists(status) && !std::filesystem::is_regular_file(status);
}

TemporaryFile::TemporaryFile(std::filesystem::path target, const std::string& ending)
    : target_(std::move(target)) {
  constexpr int tries = 100;
  constexpr int flags = O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY | O_CLOEXEC;
  constexpr mode_t mode = 0666;  // less what the user's mask takes away
  int error = EEXIST;
  for (int i = 0; i < tries && error == EEXIST; ++i) {
    path_ = target_.string() + fmt::format(".{:016x}.tmp{}", random_number(), ending);
    const int file = ::open(path_.c_str(), flags, mode);
    error = file < 0 ? errno : 0;
    if (file >= 0) ::close(file);
  }
  if (error != 0) cannot_write(target_, error);
}

TemporaryFile::~TemporaryFile() {
  std::error_code ignored;
  if (!kept_) std::filesystem::remove(path_, ignored);
}

void TemporaryFile::rename() {
  std::error_code error;
  std::filesystem::rename(path_, target_, error);
  if (error) cannot_write(target_, error.value());
  kept_ = true;
}

}  // namespace millrace
