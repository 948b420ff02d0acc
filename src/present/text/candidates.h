#pragma once
// What searches found, as a table.
#include <string>

#include "product/planning/make_plan.h"

namespace millrace::present {

/// With the latencies, if there is a largest one.
std::string candidates_text(const explore::Choice& choice);

}  // namespace millrace::present
