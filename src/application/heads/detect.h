#pragma once
// The post-processing `detect`: boxes of the heads of head.h, with masks, keypoints and corners.
#include <memory>

#include "application/application.h"
#include "application/processing.h"

namespace millrace::application {

/// InputError if no head fits the network's outputs, or the one that is named does not.
std::unique_ptr<Processing> make_detect(const Application& application,
                                        const network::Network& network);

}  // namespace millrace::application
