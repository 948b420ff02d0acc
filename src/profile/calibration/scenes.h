#pragma once
// Whether frames to learn from show more than one scene.
#include "base/operation/context.h"
#include "profile/frame_run.h"

namespace millrace::profile {

/// The smallest correlation between the first frame and another one, all float32 numbers of the
/// inputs together; 1 where there is no other. Of frames that have no variation it is 1 too.
double least_correlation(const Samples& samples);

/// Ranges of one scene may be too small for others.
void warn_of_one_scene(const Samples& samples, const Context& context);

}  // namespace millrace::profile
