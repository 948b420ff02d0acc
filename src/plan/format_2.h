#pragma once
// Plan files of format 2, in which each replica was a stage with a "turn" and had channels of its
// own, and in which the offset of a phase was its "lag".
#include <nlohmann/json.hpp>
#include <string>

namespace millrace::plan {

/// Makes the document one of today's format. InputError if the replicas of a stage are not alike or
/// not complete, or a stage or phase has a field that this format does not know.
void to_format_3(nlohmann::json& document, const std::string& file);

}  // namespace millrace::plan
