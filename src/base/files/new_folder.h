#pragma once
// Inside the room: a folder of files that is written as a whole or not at all.
#include <filesystem>
#include <functional>
#include <vector>

namespace millrace {

/// InputError if the place is a file, or a folder with files.
void check_new_folder(const std::filesystem::path& place);

/// Filled beside its place, in a folder that nobody else made; gone if it does not get there.
class NewFolder {
 public:
  /// EngineError if it cannot be made. A link is followed.
  explicit NewFolder(const std::filesystem::path& place);
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;
  ~NewFolder();

  /// Where it is filled.
  const std::filesystem::path& path() const { return made_; }
  /// Where it will lie.
  const std::filesystem::path& place() const { return place_; }
  /// Calls `fill`, whose EngineErrors then name the place that the user gave; then puts the folder
  /// there.
  void keep_after(const std::function<void()>& fill);

 private:
  std::filesystem::path given_, place_, made_;
};

/// EngineError as of write_file; InputError if `from` cannot be read.
void copy_content(const std::filesystem::path& from, const std::filesystem::path& to);

/// InputError if a file of this name was copied into the folder: it would be lost.
void check_is_free(const std::filesystem::path& folder, const std::filesystem::path& name);

/// Where the file of a model lies in the copy: external data keep their places beside the model.
/// Copies it.
std::filesystem::path copy_beside(const std::filesystem::path& file,
                                  const std::filesystem::path& model,
                                  const std::filesystem::path& folder);

}  // namespace millrace
