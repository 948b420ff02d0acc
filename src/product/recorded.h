#pragma once
// --recorded: a trace of a plan, for verbs that take its times.
#include <string>

#include "simulate/recorded.h"

namespace millrace::product {

struct Recorded {
  simulate::Recording firings;
  plan::ByPhase<simulate::Duration> means;  // on a full batch
  simulate::ApplicationResult result;       // what came of the frames
};

/// InputError naming the file if it is no trace, or one of another plan.
Recorded read_recorded(const std::string& file, const plan::Plan& plan);

}  // namespace millrace::product
