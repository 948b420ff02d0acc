#pragma once
// Work on many things at once.
#include <cstddef>
#include <functional>
#include <span>

namespace millrace::runtime {

/// Calls work(i) for each i < `count`, on one thread per core, bound to it. What one of the calls
/// throws comes out when the threads have ended.
void in_parallel(std::span<const int> cores, std::size_t count,
                 const std::function<void(std::size_t)>& work);

}  // namespace millrace::runtime
