#pragma once
// Decoders fill in what a cut JPEG file lacks, with grey, and say nothing.
#include <string_view>

namespace millrace::application {

/// Whether this is a JPEG file whose last scan does not reach the marker of the image's end. What
/// lies behind that marker does not count.
bool is_cut_jpeg(std::string_view bytes);

}  // namespace millrace::application
