#pragma once
// What runs and what is to run beside it, as one deployment.
#include "deployment/deployment.h"

namespace millrace::deployment {

/// The groups of `added` behind those of `running`, active in each of its scenarios, with its
/// levels and clocks, and with priorities below all of its own. No bound is known. InputError,
/// which names the added system's file, if they are for different boards or share the name of a
/// group.
Deployment joined(const Deployment& running, const Deployment& added);

}  // namespace millrace::deployment
