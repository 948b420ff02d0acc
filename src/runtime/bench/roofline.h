#pragma once
// The limit of a plan on this machine.
#include "profile/views/roofline.h"
#include "runtime/loaded/loaded.h"

namespace millrace::runtime {

/// Measures the peaks of the plan's processors, all busy, and fills in everything but what was
/// measured of the pipeline.
profile::Rooflines measure_rooflines(const Loaded& loaded);

}  // namespace millrace::runtime
