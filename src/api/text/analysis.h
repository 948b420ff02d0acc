#pragma once
// What the verb analyze found out, for people.
#include <string>

#include "api/analyze.h"

namespace millrace::api {

std::string analysis_text(const Analysis& analysis);

}  // namespace millrace::api
