#pragma once
// Addresses of cameras hold passwords, which no text of the program shows.
#include <string>
#include <string_view>

namespace millrace {

/// An address as it may be shown: "***" in place of who logs in, of values of parameters, and of
/// what follows "token/" or '#'. A few parameters that say which picture is meant keep theirs.
std::string masked_address(std::string_view address);

/// The text with masked_address() of each address in it: a scheme, ":/" and what follows up to a
/// blank, or "name:password@host/". Elsewhere values of parameters such as "?token=" are masked.
std::string masked(std::string_view text);

}  // namespace millrace
