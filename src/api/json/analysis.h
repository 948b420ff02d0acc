#pragma once
// What `analyze` found out, for programs: schemas/analysis.schema.json.
#include <string>

#include "api/analyze.h"

namespace millrace::api {

std::string analysis_json(const Analysis& analysis);

}  // namespace millrace::api
