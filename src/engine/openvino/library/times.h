#pragma once
// Which layers OpenVINO ran as one kernel, and what share of the time each took.
#include <openvino/openvino.hpp>

#include <map>
#include <string>
#include <vector>

#include "base/units.h"

namespace millrace::engine::openvino {

/// Layers that ran together.
struct KernelGroup {
  std::vector<std::size_t> layers;       // of the part, ascending
  std::string kernel = "openvino:none";  // of what took longest; none: nothing is left to run
  double time = 0;                       // in any unit
};

/// The microseconds of each run, by the names of what runs.
using NodeTimes = std::map<std::string, std::vector<double>>;

/// Adds what a request with performance counters reports of its last run.
void add_times(ov::InferRequest& request, NodeTimes& times);

/// Each layer of the part is in one group, in order of their first layers. A kernel's time is the
/// mean of the shorter half of its runs. What OpenVINO added, such as a change of layout, counts to
/// a neighbour.
std::vector<KernelGroup> groups_of(const ov::CompiledModel& compiled, std::size_t layer_count,
                                   const NodeTimes& times);

/// What all kernels of a run read and write, constants apart, and what they write.
struct Traffic {
  Bytes moved, written;
};
Traffic traffic_of(const ov::CompiledModel& compiled);

}  // namespace millrace::engine::openvino
