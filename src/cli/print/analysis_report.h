#pragma once
// What the verb analyze found out, for people.
#include <string>

#include "api/analyze.h"

namespace millrace::cli {

std::string analysis_text(const api::Analysis& analysis);

}  // namespace millrace::cli
