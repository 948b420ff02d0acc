#pragma once
// What is done with the crops of a frame on its way.
#include <vector>

#include "application/cascade/crops.h"
#include "application/steps.h"

namespace millrace::application {

/// Chooses, cuts and pre-processes them. Errors as prepare().
void prepare_crops(const CropParts& parts, Travel& travel);
/// The inputs of the second network, one for each of its runs; the travel has none after it.
std::vector<std::vector<network::Array>> take_crop_inputs(const CropParts& parts, Travel& travel);
/// How often it runs for this frame.
std::size_t crop_runs(const CropParts& parts, const Travel& travel);
/// Post-processes what Travel::crop_outputs holds, by run. Errors as examine().
void examine_crops(const CropParts& parts, Travel& travel);
/// All of it one after the other. Precondition: CropParts::sequential.
void run_crops(const CropParts& parts, Travel& travel);

}  // namespace millrace::application
