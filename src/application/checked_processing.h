#pragma once
// A processing that others wrote, such as a plug-in: what it hands over is looked at before it is
// used.
#include <memory>
#include <string>

#include "application/processing.h"

namespace millrace::application {

/// InputError "PLACE: ..." if the findings cannot be of this picture: sizes that do not fit, values
/// that are not finite, JSON that is none.
void check_findings(const Findings& findings, const Picture& picture, const std::string& place);

/// Does as `made` does. Errors begin with `origin` and the function, as in "bright.so: before()":
/// InputError for inputs that the network does not take, for findings that check_findings refuses,
/// and for those of `made`; EngineError for all else that `made` throws. `network` as in Setup.
std::unique_ptr<Processing> checked_processing(std::unique_ptr<Processing> made,
                                               const network::Network& network,
                                               const std::string& origin);

}  // namespace millrace::application
