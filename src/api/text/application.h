#pragma once
// What `bench APPLICATION` measured, for people.
#include <string>

#include "api/application/bench.h"

namespace millrace::api {

std::string application_text(const ApplicationResult& result);

}  // namespace millrace::api
