#pragma once
// Applications as YAML files (schemas/application.schema.json) that people write:
// docs/applications.md.
#include <filesystem>
#include <string>

#include "application/application.h"

namespace millrace::application {

/// By the ending: ".yaml" or ".yml".
bool is_application_file(const std::filesystem::path& path);

/// InputError naming the file, the line, what was found and what was expected. The labels are read
/// too.
Application read_application(const std::filesystem::path& path);
/// `file`: for messages, and paths are relative to its folder.
Application parse_application(const std::string& content, const std::string& file);

}  // namespace millrace::application
