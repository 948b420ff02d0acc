#pragma once
// Several cores that work on one layer together.
#include <functional>
#include <vector>

#include "engine/onednn/threads/held_signals.h"
#include "engine/onednn/threads/threads.h"

namespace millrace::engine::onednn {

/// Does it on a thread that is bound to the first of these cores, at least two, with helpers of the
/// OpenMP runtime on the others, each on its own. The process has one such team for the same cores,
/// whoever asks, since the runtime lets all helpers sleep between any two loops once there are more
/// of its threads than cores; those of another team with one of these cores end. One piece of work
/// at a time; throws what the work throws.
void run_on_team(const std::vector<int>& cores, const std::function<void()>& work);

/// Does it as oneDNN is to run there: on the calling thread, which has pinned itself, or, on
/// several cores, on their team.
template <class Work>
void run_on(const std::vector<int>& cores, const Work& work) {
  const HeldSignals held;
  if (cores.size() > 1) return run_on_team(cores, std::cref(work));
  const ThreadScope threads(cores);
  work();
}

}  // namespace millrace::engine::onednn
