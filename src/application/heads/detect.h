#pragma once
// The post-processing `detect`: boxes of the heads of head.h, with masks, keypoints and corners.
#include <memory>
#include <string_view>
#include <vector>

#include "application/application.h"
#include "application/processing.h"

namespace millrace::application {

/// InputError if no head fits the network's outputs, or the one that is named does not.
std::unique_ptr<Processing> make_detect(const Application& application,
                                        const network::Network& network);

/// Its name. InputError likewise.
std::string_view head_of(const Application& application, const network::Network& network);

/// One for each head that fits the outputs best; none if the network reads something else than one
/// picture, or has outputs that no head knows.
std::vector<std::unique_ptr<Processing>> detectors(const Application& application,
                                                   const network::Network& network);

}  // namespace millrace::application
