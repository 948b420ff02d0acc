#pragma once
// Crops of a run: a second network between post-processing and the results.
#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <vector>

#include "application/cascade/crops.h"
#include "application/steps.h"

namespace millrace::application {

/// Frames without a crop pass, in order. At most a few frames wait for the network.
class CropRun {
 public:
  struct Hooks {
    std::function<void(Travel&)> done;  // one thread at a time, frames in order
    std::function<void()> failed;       // once, by a thread of it; must not throw
  };
  /// What the parts borrow outlives it. EngineError if a thread cannot be made.
  CropRun(const CropParts& parts, Hooks hooks);
  /// Stops.
  ~CropRun();

  /// Frames whose crops are prepared. One thread at a time; waits while too many are on their way.
  /// False: it has ended.
  bool submit(const std::shared_ptr<std::vector<Travel>>& travels);
  /// No more frames come; those on their way still arrive, and then the error, if there is one.
  void finish(std::exception_ptr error);
  /// Ends all waits; frames on their way are dropped.
  void stop();
  /// Whether all have come out; waits so long at most. Rethrows the first error.
  bool wait_for(std::chrono::milliseconds time);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace millrace::application
