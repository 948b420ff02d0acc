#include "base/store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "base/files/regular_file.h"
#include "base/files/removal.h"

namespace millrace {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view ending = ".stored";
constexpr std::array<char, 8> magic{'m', 'i', 'l', 'l', 'r', 'a', 'c', 'e'};

/// Before the content. One version of the form: another one has another magic.
struct Header {
  std::array<char, 8> kind = magic;
  std::uint64_t version = 2;
  std::uint64_t size = 0;      // of the content
  std::uint64_t checksum = 0;  // XXH3 of the content
  XXH128_canonical_t key{};    // XXH3 of the key: a file may get another one's name
  std::array<char, 16> reserved{};
};
static_assert(sizeof(Header) == 64);  // so that the content is aligned

Header header_of(const std::string& key, std::span<const std::byte> content) {
  Header header;
  header.size = content.size();
  header.checksum = XXH3_64bits(content.data(), content.size());
  XXH128_canonicalFromHash(&header.key, XXH3_128bits(key.data(), key.size()));
  return header;
}

/// A file that others may rename or remove, but that nobody writes to any more.
class Mapping {
 public:
  explicit Mapping(const fs::path& path) {
    const int file = open_regular_descriptor(path);
    if (file < 0) return;
    struct stat status {};
    if (::fstat(file, &status) == 0 && status.st_size > 0) {
      size_ = static_cast<std::size_t>(status.st_size);
      memory_ = ::mmap(nullptr, size_, PROT_READ, MAP_SHARED | MAP_POPULATE, file, 0);
    }
    ::close(file);
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() {
    if (memory_ != MAP_FAILED) ::munmap(memory_, size_);
  }

  /// The content; nothing if the file is not there, or not as it was written for this key.
  std::optional<std::span<const std::byte>> content(const std::string& key) const {
    if (memory_ == MAP_FAILED || size_ < sizeof(Header)) return std::nullopt;
    const std::span all(static_cast<const std::byte*>(memory_), size_);
    const std::span content = all.subspan(sizeof(Header));
    // All of it is checked: after a power failure a file may have its size but not its content.
    const Header expected = header_of(key, content);
    if (std::memcmp(all.data(), &expected, sizeof expected) != 0) return std::nullopt;
    return content;
  }

 private:
  void* memory_ = MAP_FAILED;
  std::size_t size_ = 0;
};

/// A file beside `path` with a name of its own, whoever else writes there; gone if it is not
/// renamed. It is locked while its writer lives. Questions are answered with errno. Not
/// write_file: that guards against Ctrl-C, which is for one thread at a time, and here half a file
/// does no harm.
class Draft {
 public:
  explicit Draft(const fs::path& path)
      : name_(path.string() + ".XXXXXX"), file_(::mkostemp(name_.data(), O_CLOEXEC)) {
    if (file_ >= 0) ::flock(file_, LOCK_EX | LOCK_NB);
  }
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;
  ~Draft() {
    if (file_ < 0) return;
    const int reason = errno;  // is asked for afterwards
    ::close(file_);
    if (!renamed_) ::unlink(name_.c_str());
    errno = reason;
  }

  bool write(std::span<const std::byte> bytes) const {
    if (file_ < 0) return false;
    while (!bytes.empty()) {
      const ssize_t written = ::write(file_, bytes.data(), bytes.size());
      if (written < 0 && errno != EINTR) return false;
      bytes = bytes.subspan(static_cast<std::size_t>(std::max<ssize_t>(written, 0)));
    }
    return true;
  }
  bool rename_to(const fs::path& path) {
    renamed_ = ::rename(name_.c_str(), path.c_str()) == 0;
    return renamed_;
  }

 private:
  std::string name_;
  int file_;
  bool renamed_ = false;
};

/// Once more if the draft is gone: another process may clear the folder before it is locked.
bool write_whole(const fs::path& path, const Header& header, std::span<const std::byte> content) {
  for (const bool last : {false, true}) {
    Draft draft(path);
    if (draft.write(std::as_bytes(std::span(&header, 1))) && draft.write(content) &&
        draft.rename_to(path))
      return true;
    if (last || errno != ENOENT) break;
  }
  return false;
}

/// The time of the last use, to a day: reading seldom becomes writing.
void note_use(const fs::path& path) {
  std::error_code ignored;
  const auto now = fs::file_time_type::clock::now();
  const auto last = fs::last_write_time(path, ignored);
  if (!ignored && now - last > std::chrono::hours(24)) fs::last_write_time(path, now, ignored);
}

struct Entry {
  fs::path path;
  fs::file_time_type used;
  Bytes size;  // 0 of what is no file
};

/// Nothing if it is not there any more: others may remove it meanwhile.
std::optional<Entry> entry_at(const fs::path& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return std::nullopt;
  std::error_code error;  // a link to nothing has no time
  const auto used = fs::last_write_time(path, error);
  return Entry{path,
               error ? fs::file_time_type{} : used,
               {S_ISREG(status.st_mode) ? status.st_size : 0}};
}

/// Whether nobody writes to this draft any more: the kernel drops a lock with its process.
bool is_abandoned(const Entry& draft) {
  const auto age = fs::file_time_type::clock::now() - draft.used;
  if (age > std::chrono::hours(1)) return true;  // where files cannot be locked
  const int file = open_regular_descriptor(draft.path);
  if (file < 0) return !fs::is_regular_file(draft.path);  // nobody writes to what is no file
  const bool locked = ::flock(file, LOCK_SH | LOCK_NB) != 0;
  ::close(file);
  return !locked;
}

bool is_whole(const Entry& entry) { return entry.path.extension() == ending; }
bool is_draft(const Entry& entry) {
  return entry.path.filename().string().find(std::string(ending) + ".") != std::string::npos;
}

/// Whether it is content, or the beginning of some that a process left behind when it was killed.
bool is_ours(const Entry& entry) {
  return is_whole(entry) || (is_draft(entry) && is_abandoned(entry));
}

/// All that is in the folder; nothing if it cannot be read.
std::vector<Entry> all_in(const fs::path& folder) {
  std::vector<Entry> entries;
  std::error_code error;
  for (fs::directory_iterator each(folder, error), end; !error && each != end;
       each.increment(error))
    if (const auto entry = entry_at(each->path())) entries.push_back(*entry);
  return entries;
}

/// The content of it.
std::vector<Entry> entries_of(const fs::path& folder) {
  std::vector<Entry> entries = all_in(folder);
  std::erase_if(entries, [](const Entry& entry) { return !is_ours(entry); });
  return entries;
}

}  // namespace

Store::Store(fs::path folder, Bytes most, Complaint complain)
    : folder_(std::move(folder)), most_(most), complain_(std::move(complain)) {}

Store::~Store() {
  if (kept_) shrink(most_);
}

fs::path Store::path_of(const std::string& key) const {
  return folder_ / (key + std::string(ending));
}

std::optional<Stored> Store::find(const std::string& key) const {
  const auto mapping = std::make_shared<const Mapping>(path_of(key));
  const auto content = mapping->content(key);
  if (!content) return std::nullopt;
  note_use(path_of(key));
  return Stored{*content, mapping};
}

void Store::keep(const std::string& key, std::span<const std::byte> content) {
  if (failed_ || static_cast<std::int64_t>(content.size()) > most_.count) return;
  const Header header = header_of(key, content);
  std::error_code ignored;  // writing fails with its own reason if the folder is not there
  fs::create_directories(folder_, ignored);
  const fs::path path = path_of(key);
  if (write_whole(path, header, content)) {
    kept_ = true;
    return;
  }
  const std::string reason = std::strerror(errno);
  if (!failed_.exchange(true) && complain_)
    complain_(fmt::format("{}: cannot be written: {}", path.string(), reason));
}

Store::Contents Store::contents() const {
  Contents result;
  for (const Entry& entry : entries_of(folder_)) {
    ++result.files;
    result.size += entry.size;
  }
  return result;
}

void Store::shrink(Bytes most) const {
  std::vector<Entry> entries = entries_of(folder_);
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.used > b.used; });
  Bytes total;
  for (const Entry& entry : entries) {
    total += entry.size;
    std::error_code ignored;  // who removes it does not matter
    if (!is_whole(entry) || total > most) fs::remove(entry.path, ignored);
  }
}

Removal clear_store(const fs::path& folder) {
  Removal removal;
  for (const Entry& entry : all_in(folder)) {
    if (is_ours(entry))
      removal.remove(entry.path, entry.size);
    else
      removal.leave(entry.path, is_draft(entry) ? Removal::written : Removal::foreign);
  }
  return removal;
}

}  // namespace millrace
