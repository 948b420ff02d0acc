#pragma once
// Files that came from afar, by content, for the next time.
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/hash.h"
#include "base/temporary.h"
#include "base/units.h"

namespace millrace::remote {

/// Content that is coming.
class IncomingFile {
 public:
  /// It will lie at `place`. EngineError if nothing can be written there.
  IncomingFile(const std::filesystem::path& place, std::string digest, std::int64_t size);
  ~IncomingFile();
  IncomingFile(const IncomingFile&) = delete;
  IncomingFile& operator=(const IncomingFile&) = delete;

  /// BadMessage if more comes than was said; EngineError if it cannot be written.
  void write(std::string_view bytes);
  /// BadMessage if what came is not what was said. Until then nothing lies at the place. Others
  /// than this user never read it; `is_shared`: nobody changes it.
  void keep(bool is_shared);

 private:
  std::filesystem::path place_;
  std::string digest_;
  std::int64_t left_;
  Hasher hasher_;
  TemporaryFile file_;
  int descriptor_;
};

/// The digest of a file's content; `between` is called while it is read. InputError if it cannot be
/// read.
std::string digest_of_file(const std::filesystem::path& path,
                           const std::function<void()>& between);

/// A folder of such files. Several processes may use it; files in use are linked to.
class SentFiles {
 public:
  /// At most `most` is kept. What others left half is gone.
  SentFiles(std::filesystem::path folder, Bytes most);

  std::filesystem::path place_of(const std::string& digest) const { return folder_ / digest; }
  /// A link at `to`, in an existing folder, to the content; whether it was there. It keeps the
  /// content, whatever happens to the folder.
  bool link(const std::string& digest, std::int64_t size, const std::filesystem::path& to) const;
  /// Removes those used longest ago.
  void shrink() const;

 private:
  std::filesystem::path folder_;
  Bytes most_;
};

}  // namespace millrace::remote
