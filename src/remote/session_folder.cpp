#include "remote/session_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <system_error>

#include "base/error.h"

namespace millrace::remote {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view beginning = "session-";

/// A descriptor that holds the lock of the folder; -1: another process has it, or it is gone.
int lock_of(const fs::path& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (descriptor < 0) return -1;
  struct stat locked {}, there {};
  if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0 && ::fstat(descriptor, &locked) == 0 &&
      ::lstat(folder.c_str(), &there) == 0 && locked.st_ino == there.st_ino)
    return descriptor;
  ::close(descriptor);
  return -1;
}

/// Sessions of killed processes.
void sweep(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> left;
  for (fs::directory_iterator each(folder, error), end; !error && each != end;
       each.increment(error))
    if (each->path().filename().string().starts_with(beginning)) left.push_back(each->path());
  for (const fs::path& session : left) {
    const int lock = lock_of(session);
    if (lock < 0) continue;
    fs::remove_all(session, error);
    ::close(lock);
  }
}

}  // namespace

SessionFolder::SessionFolder(const fs::path& folder) {
  sweep(folder);
  constexpr int tries = 10;  // another process may sweep it before it is locked
  for (int i = 0; i < tries && lock_ < 0; ++i) {
    std::string name = (folder / (std::string(beginning) + "XXXXXX")).string();
    if (::mkdtemp(name.data()) == nullptr)
      throw EngineError(fmt::format("{}: no folder can be made there: {}", folder.string(),
                                    std::strerror(errno)));
    path_ = name;
    lock_ = lock_of(path_);
  }
}

SessionFolder::~SessionFolder() {
  std::error_code ignored;  // the next session tries again
  fs::remove_all(path_, ignored);
  if (lock_ >= 0) ::close(lock_);
}

void SessionFolder::make_folder(const std::string& name) const {
  std::error_code error;
  fs::create_directories(place_of(name), error);
  if (error || !fs::is_directory(place_of(name), error))
    throw EngineError(fmt::format("{}: cannot be made a folder: {}", place_of(name).string(),
                                  error ? error.message() : "a file is there"));
}

fs::path SessionFolder::make_room_for(const std::string& name) const {
  const std::size_t slash = name.rfind('/');
  if (slash != name.npos) make_folder(name.substr(0, slash));
  return place_of(name);
}

std::vector<SessionFolder::Known> SessionFolder::files() const {
  std::vector<Known> files;
  std::error_code error;
  for (fs::recursive_directory_iterator each(path_, error), end; !error && each != end;
       each.increment(error)) {
    struct stat status {};
    if (::lstat(each->path().c_str(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
    constexpr std::int64_t second = 1'000'000'000;
    files.push_back({each->path().lexically_relative(path_).string(), status.st_ino,
                     status.st_size, status.st_mtim.tv_sec * second + status.st_mtim.tv_nsec});
  }
  std::ranges::sort(files);
  return files;
}

void SessionFolder::note_files() { noted_ = files(); }

std::vector<SessionFolder::Produced> SessionFolder::produced() const {
  std::vector<Produced> produced;
  for (const Known& file : files())
    if (!std::ranges::binary_search(noted_, file)) produced.push_back({file.name, file.size});
  return produced;
}

}  // namespace millrace::remote
