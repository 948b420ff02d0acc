#pragma once
// Phones write how a WebP picture lies beside its pixels, as in JPEG files. OpenCV looks at it only
// in those.
#include <string_view>

namespace millrace::application {

/// The orientation of its EXIF data, 1 (upright) to 8. 1 if this is no WebP file or says nothing.
int webp_orientation(std::string_view bytes);

/// Whether this is a WebP file with several pictures. Not every OpenCV decodes such.
bool is_animated_webp(std::string_view bytes);

}  // namespace millrace::application
