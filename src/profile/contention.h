#pragma once
// Inside the profile room: what layers take while the other processors are at work too, as they are
// in a pipeline.
#include <span>

#include "profile/choose_variants.h"

namespace millrace::profile {

/// Fills in `contended` of all layers of these profiles, which are of one network, in one precision
/// and on different processors. All run the network again and again and are measured at once; each
/// rests a random time before each run, up to a quarter of a frame and before the first up to a
/// whole one, so that each of its layers meets all of the others' alike. Nothing happens without
/// the options' `under_background_load`, or to a single processor, which has nobody to contend
/// with.
void measure_contention(std::span<Measured> processors, const MeasureOptions& options);

}  // namespace millrace::profile
