#pragma once
// The limit of a plan on this machine.
#include "api/loaded.h"
#include "report/roofline.h"

namespace millrace::api {

/// Measures the peaks of the plan's processors, all busy, and fills in everything but what was
/// measured of the pipeline.
report::Rooflines measure_rooflines(const Loaded& loaded);

}  // namespace millrace::api
