#pragma once
// Each stage without the others' results: what the slowest one alone allows.
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "plan/plan.h"
#include "schedule/schedule.h"

namespace millrace::runtime {

struct StageTimes {
  std::vector<Time> phases;  // of one frame, by phase: the mean
  /// Times of whole firings, each on a phase's batch, by phase and in their order; only together.
  std::vector<std::vector<Time>> firings = {};
  Time total() const;
};

/// The stages of a plan made ready to run without each other, on random data in the layouts of the
/// pipeline and in as many slots. Keeps references to all it is given.
class StageTrials {
 public:
  StageTrials(const plan::Plan& plan, const network::Network& network,
              const std::map<std::string, engine::Engine*>& engines);
  ~StageTrials();
  StageTrials(const StageTrials&) = delete;
  StageTrials& operator=(const StageTrials&) = delete;

  std::size_t count() const;

  /// One run of a phase, on the calling thread, which has bound itself.
  Time run_once(std::size_t stage, std::size_t phase);

  /// Runs the phases of one stage one after the other on its processor, with all others idle, again
  /// and again for so long: the mean time of each. As with a pipeline's throughput, what disturbs a
  /// run counts.
  StageTimes run(std::size_t stage, Time duration);

  /// Runs all stages at once, each on its processor and none waiting for another's results, for so
  /// long: as busy as the pipeline keeps them. So none is a frame (with batches or replicas: a
  /// round of the plan) ahead of another, but for copies of one network, which wait for nobody. A
  /// first round does not count: others had the caches before it. By stage.
  std::vector<StageTimes> run_together(Time duration);

 private:
  struct Stage;
  schedule::Schedule schedule_;
  std::vector<std::unique_ptr<Stage>> stages_;
};

}  // namespace millrace::runtime
