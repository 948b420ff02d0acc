#pragma once
// What all pictures share.
#include <string>
#include <string_view>

namespace millrace::report {

/// The text with what has a meaning in XML, or no place there, replaced.
std::string escaped(std::string_view text);

}  // namespace millrace::report
