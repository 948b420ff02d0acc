#include "workload/check/effort.h"

#include <algorithm>

namespace millrace::workload {
namespace {

/// Bytes of one run; a row that does not lie side by side costs as much as some bytes more.
double touched_by(const Joint& joint) {
  constexpr double row_bytes = 16;
  double elements = 1, rows = 1;
  for (std::size_t i = 0; i < joint.side_count; ++i) {
    const Side& side = joint.sides[i];
    const auto most = static_cast<double>(std::max({side.pipe_up, side.pipeline, side.pipe_down}));
    const bool dense = i + 1 == joint.side_count && side.stride == joint.element;
    elements *= most;
    if (!dense) rows *= most;
  }
  return elements * joint.element + rows * row_bytes;
}

}  // namespace

Effort effort_of(const Workload& workload) {
  Effort effort;
  effort.turns =
      static_cast<double>(steps_of(workload)) * static_cast<double>(workload.links.size());
  constexpr double marks_of_fast_byte = 3;  // the numbers of rows too
  for (const Region& buffer : workload.buffers)
    effort.marked +=
        (buffer.memory == 0 ? 1 : marks_of_fast_byte) * static_cast<double>(buffer.size());
  for (const Link& link : workload.links) {
    double touched = touched_by(link.sink);
    for (const Joint& source : link.sources) touched += touched_by(source);
    effort.touched += touched * static_cast<double>(runs_of(link));
  }
  return effort;
}

}  // namespace millrace::workload
