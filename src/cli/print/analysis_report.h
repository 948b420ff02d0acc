#pragma once
// What the verb analyze found out, for people and for programs.
#include <string>

#include "api/analyze.h"

namespace millrace::cli {

std::string analysis_text(const api::Analysis& analysis);
std::string analysis_json(const api::Analysis& analysis);

}  // namespace millrace::cli
