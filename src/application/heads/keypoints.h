#pragma once
// The post-processing `keypoints`: the parts of one object that fills the picture.
#include <memory>

#include "application/application.h"
#include "application/processing.h"

namespace millrace::application {

/// For a heat map for each keypoint, 1 x keypoints x rows x columns; or for two outputs with
/// probabilities along x and along y, 1 x keypoints x bins. InputError if it is neither.
std::unique_ptr<Processing> make_keypoints(const Application& application,
                                           const network::Network& network);

/// The lines that annotated pictures show between that many keypoints.
Skeleton skeleton_of(const DetectionSettings& settings, std::int64_t keypoints);

}  // namespace millrace::application
