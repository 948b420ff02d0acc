#pragma once
// What `analyze` found out, for programs: schemas/analysis.schema.json.
#include <string>

#include "product/analyze.h"

namespace millrace::present {

std::string analysis_json(const product::Analysis& analysis);

}  // namespace millrace::present
