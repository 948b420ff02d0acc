#pragma once
// Videos from files and the network by FFmpeg's libraries. OpenCV's own reader of them gives every
// frame the size of the first. Part of the library that codecs.cpp loads.
#include <string>

#include "application/codecs/codecs.h"

namespace millrace::application {

/// Absolute, of a file. Not open: empty.
VideoReader open_video_file(const std::string& path);
/// With a scheme.
VideoReader open_video_address(const std::string& address, const AddressOptions& options);

}  // namespace millrace::application
