#pragma once
// Layers for which an engine has no fast kernel.
#include <string>
#include <vector>

#include "profile/profile.h"

namespace millrace::profile {

struct PlainLoops {
  std::string processor;
  std::vector<LayerId> layers;  // the slowest first
  double share = 0;             // of the time of all layers
};

/// "3 of 50 layers run in plain loops, 12 % of the time on core0: pool1, ...".
std::string plain_loops_text(const PlainLoops& loops, const std::vector<std::string>& layer_names);

/// The same on the processor on which they cost the largest share. Empty: none do, or they cost
/// less than 1 % everywhere. The reference engine, which has nothing else, does not count.
std::string plain_loops_text(const Profile& profile);

}  // namespace millrace::profile
