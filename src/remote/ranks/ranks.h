#pragma once
// A command that mpirun started several times: docs/methods/search.md.
#include <functional>

#include "base/operation/context.h"

namespace millrace::remote {

/// Calls `work`, which borrows the context, and returns what it returns, its exit code. Where MPI
/// started several processes of this command, the context has their ranks meanwhile, and only the
/// first one's has a listener.
/// What one of them throws, the first throws, and all of them end; the others return 0. InputError
/// if they were started with different words, or if MPI cannot be had here.
int on_all_ranks(Context& context, const std::function<int()>& work);

}  // namespace millrace::remote
