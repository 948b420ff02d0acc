#pragma once
// Videos to files by FFmpeg's libraries. OpenCV's own writer cuts the last column and row of
// pictures of odd size. Part of the library that codecs.cpp loads.
#include <string>

#include "application/codecs/codecs.h"

namespace millrace::application {

/// Not open: empty. Colours are written as BT.601, and the file says so.
VideoWriter create_video_file(const std::string& path, const VideoFormat& format);

}  // namespace millrace::application
