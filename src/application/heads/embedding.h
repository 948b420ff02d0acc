#pragma once
// The post-processing `embedding`: a vector that stands for the picture.
#include <memory>

#include "application/application.h"
#include "application/processing.h"

namespace millrace::application {

/// The first output, which has one dimension besides those of size 1; else InputError.
std::unique_ptr<Processing> make_embedding(const Application& application,
                                           const network::Network& network);

}  // namespace millrace::application
