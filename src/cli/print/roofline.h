#pragma once
// Limits of plans and machines, for programs.
#include <nlohmann/json_fwd.hpp>

#include "report/roofline.h"

namespace millrace::cli {

nlohmann::json rooflines_json(const report::Rooflines& rooflines);
nlohmann::json peaks_json(const board::Peaks& peaks);

}  // namespace millrace::cli
