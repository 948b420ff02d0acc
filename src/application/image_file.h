#pragma once
// Pictures in files, as OpenCV decodes them.
#include <filesystem>
#include <opencv2/core.hpp>

namespace millrace::application {

/// By its ending, in small or capital letters.
bool is_image_name(const std::filesystem::path& path);

/// One byte for each pixel, or three in the order blue, green, red. InputError naming the file if
/// it cannot be read or decoded.
cv::Mat decode_image(const std::filesystem::path& path, bool grey);

}  // namespace millrace::application
