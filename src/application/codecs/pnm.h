#pragma once
// PGM and PPM files. OpenCV 4.6 shows those whose largest value is not 255 too dark, and writes
// lines of its own about damaged ones.
#include <opencv2/core.hpp>
#include <string_view>

namespace millrace::application {

/// P2, P3, P5 or P6.
bool is_pnm(std::string_view bytes);
/// One channel if `grey`, else blue, green and red: 8 bits, the file's largest value becomes 255.
/// Empty if the header is none, or pixels are missing.
cv::Mat read_pnm(std::string_view bytes, bool grey);

}  // namespace millrace::application
