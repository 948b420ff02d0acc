#include "api/exporting/new_folder.h"

#include <fmt/format.h>
#include <unistd.h>

#include "base/error.h"
#include "base/temporary.h"

namespace millrace::api {

namespace fs = std::filesystem;

void check_new_folder(const fs::path& folder) {
  std::error_code ignored;
  if (!fs::exists(folder, ignored)) return;
  if (!fs::is_directory(folder, ignored))
    throw InputError(folder.string(), "is a file; name a folder that is not there yet");
  if (!fs::is_empty(folder, ignored))
    throw InputError(folder.string(), "has files already; name a new folder, or empty this one");
}

NewFolder::NewFolder(const fs::path& place) {
  const fs::path folder = fs::absolute(place).lexically_normal();
  place_ = folder.has_filename() ? folder : folder.parent_path();
  made_ = place_.string() + fmt::format(".{}.partial", ::getpid());
  std::error_code error;
  fs::create_directories(made_, error);
  if (error) cannot_write(place_, error.value());
}

NewFolder::~NewFolder() {
  std::error_code ignored;
  fs::remove_all(made_, ignored);
}

void NewFolder::keep() {
  std::error_code error;
  fs::rename(made_, place_, error);
  if (error) cannot_write(place_, error.value());
}

fs::path copy_beside(const fs::path& file, const fs::path& model, const fs::path& folder) {
  const fs::path name = file.lexically_relative(model.parent_path());
  const bool is_below = !name.empty() && *name.begin() != "..";
  const fs::path place = is_below ? name : file.filename();
  std::error_code error;
  if (!fs::is_regular_file(file, error))
    throw InputError(file.string(), "is no file that can be copied into the folder");
  if (fs::exists(folder / place, error))
    throw InputError(file.string(), fmt::format("would be the second '{}' in the folder; give it "
                                                "another name",
                                                place.string()));
  fs::create_directories((folder / place).parent_path(), error);
  if (!error) fs::copy_file(file, folder / place, error);
  if (!error) return place;
  if (error == std::errc::permission_denied)
    throw InputError(file.string(), fmt::format("cannot be copied: {}", error.message()));
  cannot_write(folder / place, error.value());
}

}  // namespace millrace::api
