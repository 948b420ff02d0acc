#pragma once
// The page of the live view: HTML that asks for the rest.
#include <string>

namespace millrace::serve {

std::string page();

}  // namespace millrace::serve
