#pragma once
// Outputs of a network to findings.
#include <memory>

#include "application/application.h"
#include "application/processing.h"

namespace millrace::application {

/// Built-in (words.h) or a plug-in's. InputError if it does not fit the network's outputs.
std::unique_ptr<Processing> make_postprocessing(const Application& application,
                                                const network::Network& network,
                                                const Registry& registry);

/// The heads of a Darknet configuration or of the zoo, of the kind asked for, for
/// `postprocess.detection.heads`. InputError at `place` if it has none.
std::vector<HeadSettings> heads_of(const formats::darknet::Heads& heads, const std::string& kind,
                                   const std::string& place);

}  // namespace millrace::application
