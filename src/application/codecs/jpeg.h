#pragma once
// JPEG files by libjpeg itself. OpenCV's decoder fills in what a damaged file lacks, with grey, and
// nobody learns of it. Part of the library that codecs.cpp loads.
#include <string_view>

#include "application/codecs/codecs.h"

namespace millrace::application {

/// Precondition: fewer than 2 GiB.
DecodedJpeg decode_jpeg(std::string_view bytes, bool grey);

}  // namespace millrace::application
