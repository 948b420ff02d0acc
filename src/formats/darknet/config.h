#pragma once
// Darknet's configuration files: "[section]" lines, each with "option=value" lines behind it.
#include <string>
#include <string_view>
#include <vector>

#include "formats/darknet/section.h"

namespace millrace::formats::darknet {

/// All sections in their order; the first is [net] (or [network]), and there is at least one more.
/// Spaces mean nothing; "#" and ";" begin a comment. InputError with file and line for whatever is
/// neither section nor option, and for what is not text.
std::vector<Section> parse_config(std::string_view text, const std::string& file);

}  // namespace millrace::formats::darknet
