#pragma once
// What a run says of itself when it is asked: of its inputs and of its stages.
#include "application/live/observer.h"
#include "serve/metrics/figures.h"

namespace millrace::serve {

void ask(const application::AtWork& work, FiguresNow& now);
/// Inputs in the order of Streams.
void ask(const application::DeploymentAtWork& work, FiguresNow& now);

}  // namespace millrace::serve
