#pragma once
// Systems as YAML files (schemas/system.schema.json) that people write: docs/deadlines.md.
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "system/system.h"

namespace millrace::system {

/// The system has passed check(). InputError naming the file, the line, what was found and what was
/// expected. A group that names an application has no model yet: who opens the application fills
/// it in.
System read_system(const std::filesystem::path& path);
/// `file`: for messages, and paths are relative to its folder.
System parse_system(const std::string& content, const std::string& file);

/// The same inside another file, in its field "system". Paths of files that are there are relative
/// to the folder in which that file lies, or is to lie.
nlohmann::ordered_json to_json(const System& system, const std::filesystem::path& folder);
System system_in(const nlohmann::json& value, const std::string& file);

}  // namespace millrace::system
