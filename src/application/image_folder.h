#pragma once
// The pictures of a folder, in the order in which people number them.
#include <filesystem>
#include <system_error>
#include <vector>

namespace millrace::application {

/// By is_image_name and is_before. Passed over: hidden files, which systems keep as notes of
/// pictures, and what is no regular file. `error`: whether the folder cannot be read.
std::vector<std::filesystem::path> images_in(const std::filesystem::path& folder,
                                             std::error_code& error);

}  // namespace millrace::application
