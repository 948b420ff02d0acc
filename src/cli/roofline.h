#pragma once
// The limit of a plan on this machine.
#include <nlohmann/json_fwd.hpp>

#include "cli/model.h"
#include "report/roofline.h"

namespace millrace::cli {

/// Measures the peaks of the plan's processors, all busy, and fills in everything but what was
/// measured of the pipeline.
report::Rooflines measure_rooflines(const Loaded& loaded);

nlohmann::json rooflines_json(const report::Rooflines& rooflines);
nlohmann::json peaks_json(const board::Peaks& peaks);

}  // namespace millrace::cli
