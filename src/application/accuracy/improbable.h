#pragma once
// What average precision needs beside an application's findings.
#include <memory>

#include "application/application.h"
#include "application/processing.h"

namespace millrace::application {

/// Post-processing as make_postprocessing, which also fills Findings::improbable: what the same
/// detector finds above a probability of 0.001, as published figures have it. Of other kinds it
/// finds no more.
std::unique_ptr<Processing> make_with_improbable(const Application& application,
                                                 const network::Network& network,
                                                 const Registry& registry);

}  // namespace millrace::application
