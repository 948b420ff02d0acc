#pragma once
// The threads that oneDNN uses, which it takes from the OpenMP runtime it was built with.
#include <vector>

namespace millrace::engine::onednn {

/// While it lives, oneDNN called from this thread uses as many threads as there are cores, its
/// helper threads are bound to all but the first of them, each to its own, and denormal numbers
/// count as zero. Afterwards the calling thread is as before. The number of cores must be the same
/// when a primitive is made and when it runs.
class ThreadScope {
 public:
  explicit ThreadScope(const std::vector<int>& cores);
  ~ThreadScope();
  ThreadScope(const ThreadScope&) = delete;
  ThreadScope& operator=(const ThreadScope&) = delete;

 private:
  int threads_before_ = 0;
  unsigned float_control_before_ = 0;
};

/// Ends the helpers that the runtime keeps for the calling thread.
void end_helpers();

/// "OpenMP", or that there is no control over threads.
const char* thread_runtime();

}  // namespace millrace::engine::onednn
