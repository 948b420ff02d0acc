#pragma once
// What `bench APPLICATION` measured, for people and for programs.
#include <string>

#include "api/application/bench.h"

namespace millrace::cli {

std::string application_text(const api::ApplicationResult& result);
std::string application_json(const api::ApplicationResult& result);

}  // namespace millrace::cli
