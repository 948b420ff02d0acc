#pragma once
// A plan that shares its cores with other programs, slice by slice.
#include <functional>
#include <optional>

#include "runtime/bench/bench.h"

namespace millrace::runtime {

/// Who asks for slices and hears what came of them.
struct SliceClient {
  std::uint64_t seed = 1;  // of the inputs
  std::function<void(Time first)> ready = {};             // deployed; what the first frame took
  std::function<std::optional<Time>()> next = {};         // the length of a slice; none: the end
  std::function<void(const Load& load)> ran = {};  // a slice
};

/// Deploys the plan and runs it for each slice; in between it is paused with its frames. A slice
/// follows `options.warmup_s` that do not count.
void serve_slices(const Loaded& loaded, const BenchOptions& options, const SliceClient& client);

}  // namespace millrace::runtime
