#pragma once
// Where Python's packages lie, in which many libraries come.
#include <filesystem>
#include <string_view>
#include <vector>

namespace millrace::engine {

/// Folders with Python's packages: those of tools/fetch_engines.py beside the build, of
/// VIRTUAL_ENV, of the python3 on the PATH, of the user, and of the system.
std::vector<std::filesystem::path> package_folders();

/// What the folder holds under names that begin so, sorted; nothing if it cannot be read.
std::vector<std::filesystem::path> entries_of(const std::filesystem::path& folder,
                                              std::string_view prefix);

}  // namespace millrace::engine
