#include "engine/package_folders.h"

#include <algorithm>
#include <cstdlib>
#include <system_error>

namespace millrace::engine {
namespace {

namespace fs = std::filesystem;
using Paths = std::vector<fs::path>;

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

/// "PREFIX/lib/python3.11/site-packages", and Debian's dist-packages. Never in the folder in which
/// the program happens to run: what lies there may be anybody's.
void add_packages_under(const fs::path& prefix, Paths& folders) {
  if (!prefix.is_absolute()) return;
  for (const fs::path& version : entries_of(prefix / "lib", "python3")) {
    folders.push_back(version / "site-packages");
    folders.push_back(version / "dist-packages");
  }
}

/// The folder above the one that python3 lies in; once as the PATH names it, once without links.
void add_python_on_path(Paths& folders) {
  const std::string path = variable("PATH");
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find(':', begin), path.size());
    const fs::path python = fs::path(path.substr(begin, end - begin)) / "python3";
    begin = end + 1;
    std::error_code error;
    if (!python.is_absolute() || !fs::exists(python, error)) continue;
    add_packages_under(python.parent_path().parent_path(), folders);
    const fs::path real = fs::canonical(python, error);
    if (!error) add_packages_under(real.parent_path().parent_path(), folders);
    return;
  }
}

/// "build/engines", for a program that lies somewhere under "build".
void add_engines_of_build(Paths& folders) {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  for (fs::path folder = program.parent_path(); folder.has_relative_path();
       folder = folder.parent_path())
    if (folder.filename() == "build") folders.push_back(folder / "engines");
}

}  // namespace

std::vector<fs::path> entries_of(const fs::path& folder, std::string_view prefix) {
  Paths found;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error))
    if (entry.path().filename().string().starts_with(prefix)) found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

Paths package_folders() {
  Paths folders;
  add_engines_of_build(folders);
  add_packages_under(variable("VIRTUAL_ENV"), folders);
  add_python_on_path(folders);
  if (const std::string home = variable("HOME"); !home.empty())
    add_packages_under(fs::path(home) / ".local", folders);
  add_packages_under("/usr/local", folders);
  add_packages_under("/usr", folders);
  return folders;
}

}  // namespace millrace::engine
