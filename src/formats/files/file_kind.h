#pragma once
// What a file is, for verbs that take several kinds.
#include <string>
#include <string_view>

namespace millrace::formats {

/// "plans", "deployments", "graphs", "task systems" or "programs of tiles", by its content or, if
/// it cannot be read, by its name. InputError if a .json file is no JSON.
std::string_view kind_of_file(const std::string& file);

}  // namespace millrace::formats
