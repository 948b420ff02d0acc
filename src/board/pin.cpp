#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sched.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "base/error.h"
#include "board/board.h"

namespace millrace::board {
namespace {

/// A set of cores as the system calls want it; large enough for any machine Linux runs on.
class CoreSet {
 public:
  CoreSet() : set_(CPU_ALLOC(limit)), size_(CPU_ALLOC_SIZE(limit)) {
    if (!set_) throw std::bad_alloc();
    CPU_ZERO_S(size_, set_.get());
  }
  explicit CoreSet(const std::vector<int>& cores) : CoreSet() {
    for (int core : cores)
      if (core >= 0) CPU_SET_S(static_cast<std::size_t>(core), size_, set_.get());
  }
  static CoreSet of_this_thread() {
    CoreSet result;
    if (::sched_getaffinity(0, result.size_, result.set_.get()) != 0)
      throw EngineError(
          fmt::format("the cores of this thread cannot be read: {}", std::strerror(errno)));
    return result;
  }
  std::vector<int> cores() const {
    std::vector<int> result;
    for (int core = 0; core < limit; ++core)
      if (CPU_ISSET_S(static_cast<std::size_t>(core), size_, set_.get())) result.push_back(core);
    return result;
  }
  bool bind_this_thread() const { return ::sched_setaffinity(0, size_, set_.get()) == 0; }

 private:
  static constexpr int limit = 8192;
  struct Free {
    void operator()(cpu_set_t* set) const { CPU_FREE(set); }
  };
  std::unique_ptr<cpu_set_t, Free> set_;
  std::size_t size_;
};

}  // namespace

std::vector<int> cores_of_this_thread() { return CoreSet::of_this_thread().cores(); }

void pin_this_thread(const Processor& processor) {
  if (processor.cores.empty() || CoreSet(processor.cores).bind_this_thread()) return;
  throw EngineError(fmt::format("{}: a thread cannot be bound to core {}: {}", processor.name,
                                fmt::join(processor.cores, ", "), std::strerror(errno)));
}

PinGuard::PinGuard(const Processor& processor) : before_(cores_of_this_thread()) {
  pin_this_thread(processor);
}

// Cannot fail in a way that could be mended here: the binding was valid before.
PinGuard::~PinGuard() { CoreSet(before_).bind_this_thread(); }

}  // namespace millrace::board
