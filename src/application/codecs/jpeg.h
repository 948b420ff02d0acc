#pragma once
// Decoders fill in what a damaged JPEG file lacks, with grey, and say nothing.
#include <string_view>

namespace millrace::application {

/// Whether this is a JPEG file that lacks the marker of the image's end, or one of the restarts in
/// its scans. What lies behind the end does not count.
bool is_damaged_jpeg(std::string_view bytes);

}  // namespace millrace::application
