#pragma once
// Origins in plan files.
#include <filesystem>
#include <nlohmann/json_fwd.hpp>

#include "base/json.h"
#include "plan/origin.h"

namespace millrace::plan {

/// `folder` is the plan's: files that are there are named relative to it, too.
nlohmann::ordered_json to_json(const Origin& origin, const std::filesystem::path& folder);
/// A file that lies where the plan says relative to its folder, or else beside the plan, is taken
/// in place of the one whose whole path it says. Options that this version does not know are passed
/// over. InputError names the field.
Origin read_origin(const JsonView& json, const std::filesystem::path& folder);

}  // namespace millrace::plan
