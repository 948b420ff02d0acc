#pragma once
// What `bench APPLICATION` measured, for people.
#include <string>

#include "api/application/bench.h"

namespace millrace::cli {

std::string application_text(const api::ApplicationResult& result);

}  // namespace millrace::cli
