#pragma once
// Inside the profile room: layers that fuse, each as a subnet of its own.
#include "profile/measurement_target.h"

namespace millrace::profile {

/// Fills in `alone` of all layers, in their variants, between borders in the engine's layouts.
/// Layers that fuse with no other cost the same alone as together.
void measure_alone(const MeasurementTarget& target, std::vector<LayerTimes>& layers);

}  // namespace millrace::profile
