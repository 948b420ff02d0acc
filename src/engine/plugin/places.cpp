#include "engine/plugin/places.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <string_view>
#include <system_error>

#include "base/error.h"
#include "engine/package_folders.h"

namespace millrace::engine::plugin {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view beginning = "libmillrace_engine_", ending = ".so";

/// An absolute path in the environment, else nothing.
fs::path folder_in(const char* variable) {
  const char* const text = std::getenv(variable);
  return text != nullptr && fs::path(text).is_absolute() ? fs::path(text) : fs::path();
}

fs::path folder_of_user() {
  if (fs::path given = folder_in("MILLRACE_ENGINES"); !given.empty()) return given;
  if (const fs::path data = folder_in("XDG_DATA_HOME"); !data.empty())
    return data / "millrace" / "engines";
  const fs::path home = folder_in("HOME");
  return home.empty() ? home : home / ".local" / "share" / "millrace" / "engines";
}

/// "PREFIX/lib/millrace/engines", and the same in a folder of an architecture.
void add_under(const fs::path& prefix, std::vector<fs::path>& folders) {
  std::error_code error;
  for (const fs::path& libraries : entries_of(prefix / "lib", ""))
    if (fs::is_directory(libraries / "millrace" / "engines", error))
      folders.push_back(libraries / "millrace" / "engines");
  folders.push_back(prefix / "lib" / "millrace" / "engines");
}

/// Where the code of this function lies: beside a shared library, or beside the program.
fs::path folder_of_code() {
  static const int here = 0;
  Dl_info info{};
  std::error_code error;
  if (dladdr(&here, &info) == 0 || info.dli_fname == nullptr) return "/";
  const fs::path file = fs::canonical(info.dli_fname, error);
  return error ? fs::path("/") : file.parent_path();
}

/// The first of these that is there: beside the shared library; for a program in "PREFIX/bin"; for
/// tests in a folder of a build.
std::vector<fs::path> folders_of_package() {
  std::error_code error;
  const fs::path beside = folder_of_code() / "millrace" / "engines";
  if (fs::is_directory(beside, error)) return {beside};
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  std::vector<fs::path> folders;
  if (error || !program.has_relative_path()) return folders;
  add_under(program.parent_path().parent_path(), folders);
  const auto is_there = [&](const fs::path& each) { return fs::is_directory(each, error); };
  if (std::ranges::any_of(folders, is_there)) return folders;
  for (fs::path folder = program.parent_path(); folder.has_relative_path();
       folder = folder.parent_path())
    if (folder.parent_path().filename() == "build") add_under(folder, folders);
  return folders;
}

fs::path file_in_environment(const std::string& name) {
  std::string variable = "MILLRACE_" + name;
  std::ranges::transform(variable, variable.begin(),
                         [](unsigned char letter) { return std::toupper(letter); });
  const char* const file = std::getenv(variable.c_str());
  return file == nullptr ? fs::path() : fs::path(file);
}

/// Which the options name, or the environment; empty: neither.
fs::path named_file(const std::string& name, const EngineOptions& options) {
  const auto given = options.libraries.find(name);
  return given == options.libraries.end() ? file_in_environment(name) : given->second;
}

bool is_plugin_file(const fs::path& file) {
  return file.filename().string().starts_with(beginning);
}

}  // namespace

std::vector<fs::path> plugin_folders() {
  std::vector<fs::path> folders = folders_of_package();
  if (fs::path user = folder_of_user(); !user.empty()) folders.insert(folders.begin(), user);
  return folders;
}

std::vector<std::string> names_in_folders() {
  std::vector<std::string> names;
  for (const fs::path& folder : plugin_folders())
    for (const fs::path& file : entries_of(folder, beginning)) {
      const std::string name = file.filename().string();
      if (name.ends_with(ending) && name.size() > beginning.size() + ending.size())
        names.push_back(
            name.substr(beginning.size(), name.size() - beginning.size() - ending.size()));
    }
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());  // not ranges: clang 14
  return names;
}

bool is_shipped(std::string_view name) { return name == "onnxruntime"; }

std::string file_name_of(const std::string& name) {
  return std::string(beginning) + name + std::string(ending);
}

fs::path library_of_sdk(const std::string& name, const EngineOptions& options) {
  const fs::path named = named_file(name, options);
  return is_shipped(name) && !is_plugin_file(named) ? named : fs::path();
}

std::optional<fs::path> file_of(const std::string& name, const EngineOptions& options) {
  if (const fs::path named = named_file(name, options);
      !named.empty() && (!is_shipped(name) || is_plugin_file(named)))
    return named;
  std::optional<fs::path> found;
  for (const fs::path& folder : plugin_folders()) {
    const fs::path file = folder / file_name_of(name);
    std::error_code error;
    if (!fs::exists(file, error) || (found && fs::equivalent(*found, file, error))) continue;
    if (found)
      throw InputError("engine " + name,
                       fmt::format("two plug-ins have this name, {} and {}; remove one, or choose "
                                   "one with ⟨engine_library⟩ {}=FILE",
                                   found->string(), file.string(), name));
    found = file;
  }
  return found;
}

}  // namespace millrace::engine::plugin
