#pragma once
// What the verb analyze found out, for people.
#include <string>

#include "product/analyze.h"

namespace millrace::present {

std::string analysis_text(const product::Analysis& analysis);

}  // namespace millrace::present
