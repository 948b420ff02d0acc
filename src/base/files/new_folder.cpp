#include "base/files/new_folder.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdint>
#include <fstream>
#include <random>
#include <string>

#include "base/error.h"
#include "base/file.h"
#include "base/printable.h"
#include "base/temporary.h"

namespace millrace {
namespace {

namespace fs = std::filesystem;

void make_folders(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) cannot_write(folder, error.value());
}

/// Beside the place. A folder or link that is there already is somebody else's.
fs::path make_beside(const fs::path& place) {
  constexpr int tries = 100;
  constexpr mode_t mode = 0777;  // less what the user's mask takes away
  std::random_device device;
  for (int i = 0; i < tries; ++i) {
    const std::uint64_t number = (std::uint64_t{device()} << 32) | device();
    const fs::path made = place.string() + fmt::format(".{:016x}.partial", number);
    if (::mkdir(made.c_str(), mode) == 0) return made;
    if (errno != EEXIST) cannot_write(place, errno);
  }
  cannot_write(place, EEXIST);
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

}  // namespace

void check_new_folder(const fs::path& folder) {
  std::error_code ignored;
  if (!fs::exists(folder, ignored)) return;
  if (!fs::is_directory(folder, ignored))
    throw InputError(folder.string(), "is a file; name a folder that is not there yet");
  if (!fs::is_empty(folder, ignored))
    throw InputError(folder.string(), "has files already; name a new folder, or empty this one");
}

NewFolder::NewFolder(const fs::path& place)
    : given_(place.has_filename() ? place : place.parent_path()) {
  const fs::path folder = fs::absolute(place).lexically_normal();
  place_ = folder.has_filename() ? folder : folder.parent_path();
  if (std::error_code ignored; fs::is_symlink(place_, ignored))
    place_ = fs::weakly_canonical(end_of_links(place_));
  make_folders(place_.parent_path());
  made_ = make_beside(place_);
}

NewFolder::~NewFolder() {
  std::error_code ignored;
  fs::remove_all(made_, ignored);
}

void NewFolder::keep_after(const std::function<void()>& fill) {
  try {
    fill();
  } catch (const EngineError& error) {
    throw EngineError(
        replaced(error.what(), printable(made_.string()), printable(given_.string())));
  }
  std::error_code error;
  fs::rename(made_, place_, error);
  if (error) cannot_write(given_, error.value());
}

void copy_content(const fs::path& from, const fs::path& to) {
  std::ifstream in = open_regular_file(from);
  make_folders(to.parent_path());
  write_file(to, [&](std::ostream& out) {
    std::string piece(std::size_t{1} << 20, '\0');
    while (in && out) {
      in.read(piece.data(), static_cast<std::streamsize>(piece.size()));
      out.write(piece.data(), in.gcount());
    }
    if (in.bad()) throw InputError(from.string(), "cannot be read to its end");
  });
}

void check_is_free(const fs::path& folder, const fs::path& name) {
  std::error_code ignored;
  if (fs::exists(folder / name, ignored))
    throw InputError(name.string(),
                     "would be written over a file of the model that has this name; rename the "
                     "file, or the plan");
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
  copy_content(file, folder / place);
  return place;
}

}  // namespace millrace
