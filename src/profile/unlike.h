#pragma once
// Whether processors that are alike came out alike.
#include <string>
#include <vector>

#include "profile/profile.h"

namespace millrace::profile {

/// A processor on which the whole network took clearly longer than on one of the same device with
/// as many cores, in the same precision: something else was at work there.
struct Unlike {
  std::string slower, faster;  // processors
  board::Precision precision = board::Precision::f32;
  double ratio = 1;  // of the medians
};

/// Each processor beside the fastest that it is like.
std::vector<Unlike> unlike(const Profile& profile, const board::Board& board);

}  // namespace millrace::profile
