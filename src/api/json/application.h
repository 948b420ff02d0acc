#pragma once
// What `bench APPLICATION` measured, for programs: schemas/application_bench.schema.json.
#include <string>

#include "api/application/bench.h"

namespace millrace::api {

std::string application_json(const ApplicationResult& result);

}  // namespace millrace::api
