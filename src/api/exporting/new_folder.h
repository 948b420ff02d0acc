#pragma once
// Inside the room: a folder of files that is written as a whole or not at all.
#include <filesystem>
#include <vector>

namespace millrace::api {

/// InputError if the place is a file, or a folder with files.
void check_new_folder(const std::filesystem::path& place);

/// Filled beside its place; gone if it does not get there.
class NewFolder {
 public:
  explicit NewFolder(const std::filesystem::path& place);
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;
  ~NewFolder();

  /// Where it is filled.
  const std::filesystem::path& path() const { return made_; }
  /// Where it will lie.
  const std::filesystem::path& place() const { return place_; }
  void keep();

 private:
  std::filesystem::path place_, made_;
};

/// Where the file of a model lies in the copy: external data keep their places beside the model.
/// Copies it.
std::filesystem::path copy_beside(const std::filesystem::path& file,
                                  const std::filesystem::path& model,
                                  const std::filesystem::path& folder);

}  // namespace millrace::api
