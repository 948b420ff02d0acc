#pragma once
// Each stage by itself: what the slowest one alone allows.
#include <map>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "plan/plan.h"

namespace millrace::runtime {

struct StageTimes {
  std::vector<Time> phases;  // median of each phase, per frame
  Time total() const;
};

/// Runs the phases of one stage after the other on its processor, with all other stages idle, on
/// random data in the layouts of the pipeline and in as many slots. By stage.
std::vector<StageTimes> stage_times(const plan::Plan& plan, const network::Network& network,
                                    const std::map<std::string, engine::Engine*>& engines);

}  // namespace millrace::runtime
