#pragma once
// Inside `admission`: what was admitted before.
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "api/admission/admit.h"

namespace millrace::api {

struct RunningSet {
  explore::AdmissionChoice choice = {};  // by task from the first one that runs on
  std::optional<realtime::KeptTable> table = {};
};

/// Adds the groups of an answer that admission_json() wrote, which stands in the file, behind those
/// of the result, which has the processors of its board. InputError if it is none such, is of
/// another board, or has a group of a name that is there.
RunningSet add_running(const nlohmann::json& answer, const std::string& file, AdmitResult& result);

}  // namespace millrace::api
