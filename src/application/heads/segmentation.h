#pragma once
// The post-processing `segmentation`: the class of each pixel.
#include <memory>

#include "application/application.h"
#include "application/processing.h"

namespace millrace::application {

/// For the first output: 1 x classes x rows x columns, 1 x rows x columns x classes, or classes as
/// integers, 1 x rows x columns. InputError if it is none of these, or has more than 256 classes.
std::unique_ptr<Processing> make_segmentation(const Application& application,
                                              const network::Network& network);

}  // namespace millrace::application
