#include "runtime/background_load.h"

#include <atomic>
#include <exception>
#include <thread>
#include <vector>

namespace millrace::runtime {

void under_background_load(std::span<const std::function<void()>> others,
                           const std::function<void()>& work) {
  std::atomic<bool> done{false};
  std::vector<std::exception_ptr> failures(others.size());
  {
    std::vector<std::jthread> threads;
    const auto run = [&](std::size_t i) {
      try {
        while (!done.load(std::memory_order_relaxed)) others[i]();
      } catch (...) {
        failures[i] = std::current_exception();
      }
    };
    try {
      for (std::size_t i = 0; i < others.size(); ++i) threads.emplace_back(run, i);
      work();
    } catch (...) {  // also if a thread cannot be started
      done = true;
      throw;
    }
    done = true;
  }
  for (const std::exception_ptr& failure : failures)
    if (failure) std::rethrow_exception(failure);
}

}  // namespace millrace::runtime
