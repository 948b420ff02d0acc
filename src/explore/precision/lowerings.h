#pragma once
// What a profile says about lower precisions: which layers gain by them, and how much.
#include "explore/precision/precision.h"
#include "profile/profile.h"

namespace millrace::explore {

/// Layers that run as one kernel in some precision are lowered together; their first stands for all
/// of them.
struct Lowerings {
  PrecisionProblem problem;
  std::vector<std::size_t> first_of;  // by LayerId: the first layer of its fused group

  /// Each layer as the first of its fused group.
  std::vector<board::Precision> spread(std::vector<board::Precision> precisions) const;
};

/// `allowed` was measured on every processor; the base is the most exact one of it. What a fused
/// group saves is the mean over the processors; what saves nothing is left out.
Lowerings lowerings_of(const profile::Profile& measured,
                       const std::vector<board::Precision>& allowed);

}  // namespace millrace::explore
