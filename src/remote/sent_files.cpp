#include "remote/sent_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <system_error>
#include <utility>
#include <vector>

#include "base/file.h"
#include "remote/wire.h"

namespace millrace::remote {

namespace fs = std::filesystem;

IncomingFile::IncomingFile(const fs::path& place, std::string digest, std::int64_t size)
    : place_(place), digest_(std::move(digest)), left_(size), file_(place),
      descriptor_(::open(file_.path().c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW)) {
  if (descriptor_ < 0) cannot_write(place, errno);
}

IncomingFile::~IncomingFile() { ::close(descriptor_); }

void IncomingFile::write(std::string_view bytes) {
  left_ -= static_cast<std::int64_t>(bytes.size());
  if (left_ < 0) throw BadMessage("a file is longer than was said");
  hasher_.add(std::as_bytes(std::span(bytes)));
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor_, bytes.data(), bytes.size());
    if (count < 0 && errno != EINTR) cannot_write(place_, errno);
    bytes.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  }
}

void IncomingFile::keep(bool is_shared) {
  if (left_ != 0) throw BadMessage("a file is shorter than was said");
  if (hasher_.digits() != digest_) throw BadMessage("a file came damaged");
  ::fchmod(descriptor_, is_shared ? S_IRUSR : S_IRUSR | S_IWUSR);
  file_.rename();
}

std::string digest_of_file(const fs::path& path, const std::function<void()>& between) {
  std::ifstream file = open_regular_file(path);
  Hasher hasher;
  std::vector<char> bytes(piece_size);
  while (file.read(bytes.data(), static_cast<std::streamsize>(bytes.size())) ||
         file.gcount() > 0) {
    hasher.add(std::as_bytes(std::span(bytes.data(), static_cast<std::size_t>(file.gcount()))));
    between();
  }
  return hasher.digits();
}

SentFiles::SentFiles(fs::path folder, Bytes most) : folder_(std::move(folder)), most_(most) {
  ::mkdir(folder_.c_str(), S_IRWXU);
  sweep_temporaries(folder_);
}

bool SentFiles::link(const std::string& digest, std::int64_t size, const fs::path& to) const {
  const fs::path from = place_of(digest);
  std::error_code error;
  if (!fs::is_regular_file(fs::symlink_status(from, error))) return false;
  fs::create_hard_link(from, to, error);
  if (error) return false;
  if (fs::file_size(to, error) != static_cast<std::uintmax_t>(size) || error) {
    fs::remove(to, error);
    fs::remove(from, error);
    return false;
  }
  // Used now; the time of its content stays, by which sessions see what has changed.
  const timespec times[] = {{0, UTIME_NOW}, {0, UTIME_OMIT}};
  ::utimensat(AT_FDCWD, from.c_str(), times, AT_SYMLINK_NOFOLLOW);
  return true;
}

void SentFiles::shrink() const {
  struct Entry {
    std::int64_t used_s;
    std::int64_t size;
    fs::path path;
  };
  std::vector<Entry> entries;
  std::error_code error;
  for (fs::directory_iterator each(folder_, error), end; !error && each != end;
       each.increment(error)) {
    struct stat status {};
    if (::lstat(each->path().c_str(), &status) == 0 && S_ISREG(status.st_mode))
      entries.push_back({status.st_atim.tv_sec, status.st_size, each->path()});
  }
  std::ranges::sort(entries, [](const Entry& a, const Entry& b) { return a.used_s > b.used_s; });
  std::int64_t total = 0;
  for (const Entry& entry : entries)
    if ((total += entry.size) > most_.count) fs::remove(entry.path, error);
}

}  // namespace millrace::remote
