#pragma once
// Runs background load while some work is done.
#include <functional>
#include <span>

namespace millrace::runtime {

/// Calls each of `others` again and again, on a thread of its own, until `work` has returned on the
/// calling thread. What one of them throws comes out when all have ended.
void under_background_load(std::span<const std::function<void()>> others,
                           const std::function<void()>& work);

}  // namespace millrace::runtime
