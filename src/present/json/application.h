#pragma once
// What `bench APPLICATION` measured, for programs: schemas/application_bench.schema.json.
#include <string>

#include "application/bench/bench.h"

namespace millrace::present {

std::string application_json(const application::ApplicationResult& result);

}  // namespace millrace::present
