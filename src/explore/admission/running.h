#pragma once
// What was admitted before, out of the file that says so.
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "explore/admission/decide.h"

namespace millrace::explore {

/// Adds the groups of an answer that admission_json() wrote, which stands in the file, behind those
/// of the decision, which has the processors of its board. InputError if it is none such, is of
/// another board, or has a group of a name that is there.
RunningSet add_running(const nlohmann::json& answer, const std::string& file,
                       AdmitDecision& decision);

}  // namespace millrace::explore
