#pragma once
// Files that were written from others, for programs: schemas/bundle.schema.json.
#include <string>

#include "product/planning/bundle.h"

namespace millrace::present {

std::string bundle_json(const std::string& folder, const product::Bundle& bundle);

}  // namespace millrace::present
