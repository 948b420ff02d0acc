#include "api/exporting/new_folder.h"

#include <fmt/format.h>
#include <unistd.h>

#include "base/error.h"

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
  fs::create_directories(made_);
}

NewFolder::~NewFolder() {
  std::error_code ignored;
  fs::remove_all(made_, ignored);
}

void NewFolder::keep() { fs::rename(made_, place_); }

fs::path copy_beside(const fs::path& file, const fs::path& model, const fs::path& folder) {
  const fs::path name = file.lexically_relative(model.parent_path());
  const bool is_below = !name.empty() && *name.begin() != "..";
  const fs::path place = is_below ? name : file.filename();
  fs::create_directories((folder / place).parent_path());
  fs::copy_file(file, folder / place);
  return place;
}

}  // namespace millrace::api
