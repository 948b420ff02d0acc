#pragma once
// The folder of one session: a tree of files as it is on the other machine.
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace millrace::remote {

/// Gone at its end; one whose process was killed is gone when the next one begins.
class SessionFolder {
 public:
  /// Made in `folder`, which is there and this user's alone. EngineError if it cannot be made.
  explicit SessionFolder(const std::filesystem::path& folder);
  ~SessionFolder();
  SessionFolder(const SessionFolder&) = delete;
  SessionFolder& operator=(const SessionFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  /// The place of a checked name.
  std::filesystem::path place_of(const std::string& name) const { return path_ / name; }
  /// Makes the folders above it. EngineError if a file is in the way.
  std::filesystem::path make_room_for(const std::string& name) const;
  void make_folder(const std::string& name) const;

  /// Notes what is there: the rest will be new.
  void note_files();
  struct Produced {
    std::string name;
    std::int64_t size = 0;  // bytes
  };
  /// Regular files that are new or were changed since; links are not followed.
  std::vector<Produced> produced() const;

 private:
  struct Known {
    std::string name;
    std::uint64_t file = 0;  // number
    std::int64_t size = 0, changed_ns = 0;
    auto operator<=>(const Known&) const = default;
  };
  std::vector<Known> files() const;

  std::filesystem::path path_;
  int lock_ = -1;
  std::vector<Known> noted_;  // sorted
};

}  // namespace millrace::remote
