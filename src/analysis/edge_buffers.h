#pragma once
// How much space the edges of task graphs have, and how much they need.
#include <cstdint>
#include <string>
#include <vector>

#include "base/units.h"
#include "deployment/deployment.h"

namespace millrace::analysis {

/// The buffers of a group's edges, in tokens.
struct EdgeBuffer {
  std::size_t group = 0;  // GroupId
  std::string from, to;
  /// Space that it has at run time: nobody ever waits for space, as the bounds take for granted.
  std::int64_t space = 0;
  /// With the least total of the group, its tasks would wait for each other, but not for ever.
  std::int64_t least = 0;
  Bytes token{};  // 0: the deployment does not say
};

std::vector<EdgeBuffer> edge_buffers(const deployment::Deployment& deployment);

}  // namespace millrace::analysis
