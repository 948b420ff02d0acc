#pragma once
// What was found out about a plan.
#include <vector>

#include "base/units.h"

namespace millrace::plan {

/// In the running plan, beside others that ran interleaved with it.
struct Measured {
  Time period{};                  // between two frames, the median
  std::vector<Time> stages = {};  // of one frame, by stage, the medians
  double doubt = 0;  // how far the period beside the shortest may be off, in shares of it: twice
                     // the standard error of the median of the rounds' ratios, or 0 where there are
                     // too few to tell
};

}  // namespace millrace::plan
