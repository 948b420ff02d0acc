#pragma once
// A second core that moves tiles while the first one computes.
#include <atomic>
#include <thread>

#include "board/board.h"
#include "workload/interpreter.h"

namespace millrace::engine::tiled {

/// Runs the transfers of a step on a thread of its own, bound to `core`. One caller; between steps
/// it spins for a moment and then sleeps.
class CopyThread {
 public:
  explicit CopyThread(board::Processor core);
  ~CopyThread();
  CopyThread(const CopyThread&) = delete;
  CopyThread& operator=(const CopyThread&) = delete;

  /// The transfers of all steps beside the arithmetic, which runs on the calling thread.
  void run(const workload::Machine& machine);

 private:
  void work(const board::Processor& core);

  // done_ <= begun_ <= done_ + 1. The caller writes what follows, and then begun_, only while they
  // are equal; the thread reads it only while they are not.
  std::atomic<std::int64_t> begun_{0}, done_{0};
  const workload::Machine* machine_ = nullptr;  // null: the end
  std::int64_t step_ = 0;
  std::thread thread_;
};

}  // namespace millrace::engine::tiled
