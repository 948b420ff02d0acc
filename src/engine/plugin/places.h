#pragma once
// Where plug-ins lie.
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/options.h"

namespace millrace::engine::plugin {

/// Whether the package brings the plug-in of this name, so that it is an engine like others.
bool is_shipped(std::string_view name);

/// "libmillrace_engine_NAME.so".
std::string file_name_of(const std::string& name);

/// The folders "millrace/engines" of the user and of the package or the build, in this order;
/// MILLRACE_ENGINES names one that takes the user's place. Never the folder in which the program
/// was started.
std::vector<std::filesystem::path> plugin_folders();

/// The names NAME of files libmillrace_engine_NAME.so in these folders, sorted, each once.
std::vector<std::string> names_in_folders();

/// The file of `options.libraries`, of the environment variable MILLRACE_NAME, or of the folders;
/// nothing if there is none. InputError if several folders have one. Of a plug-in that is shipped,
/// the first two name the library of its SDK, unless the file's name is that of a plug-in.
std::optional<std::filesystem::path> file_of(const std::string& name, const EngineOptions& options);

/// The library that a plug-in which is shipped is to load; empty: it looks for one.
std::filesystem::path library_of_sdk(const std::string& name, const EngineOptions& options);

}  // namespace millrace::engine::plugin
