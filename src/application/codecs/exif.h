#pragma once
// What phones write beside a picture's pixels.
#include <string_view>

namespace millrace::application {

/// How a picture with this EXIF data lies: 1 (upright) to 8. 1 if the data says nothing. `exif`: a
/// TIFF header and what follows it, with "Exif" before it or without.
int exif_orientation(std::string_view exif);

}  // namespace millrace::application
