#pragma once
// The post-processing `text`: a line of characters, from probabilities at each step (CTC).
#include <memory>

#include "application/application.h"
#include "application/processing.h"

namespace millrace::application {

/// For the first output, 1 x steps x symbols or steps x 1 x symbols. The symbols are those of the
/// alphabet and one that stands for none; if there is one more, it is a space after the others.
/// InputError if that does not fit.
std::unique_ptr<Processing> make_text(const Application& application,
                                      const network::Network& network);

}  // namespace millrace::application
