#pragma once
// What all pictures share.
#include <string>
#include <string_view>

namespace millrace::present {

/// As a person may see it: printable(), and as XML takes it.
std::string escaped(std::string_view text);

}  // namespace millrace::present
