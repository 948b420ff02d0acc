#pragma once
// A program as the interpreter takes it, with its state: prepared once, then run again and again
// without allocation.
#include <memory>
#include <span>
#include <vector>

#include "network/tensor.h"
#include "workload/interpreter.h"
#include "workload/kernels.h"
#include "workload/workload.h"

namespace millrace::workload {

/// Where a program's tensors are in a run, by TensorId; null where none of its buffers is.
using TensorTable = std::vector<std::byte*>;

/// The fast memories of programs, as large as their workloads need. Movable.
class FastMemories {
 public:
  explicit FastMemories(const Program& program);

  /// Where each begins, by Program::memories; null for the first one, which holds the tensors.
  std::span<std::byte* const> begins() const { return begins_; }
  Bytes size() const;  // of all
  void fill(std::byte value);

 private:
  std::vector<network::Buffer> buffers_;
  std::vector<std::byte*> begins_;
};

/// One workload, ready to run. Movable. One thread at a time.
class Executable {
 public:
  /// Borrows all; `memories`: where the fast ones begin, which others may use between runs.
  Executable(const Workload& workload, const network::Network& network,
             const FastMemories& memories);
  Executable(Executable&&) = default;
  Executable& operator=(Executable&&) = default;

  /// Nothing is checked: see check.h.
  void run(const TensorTable& tensors);
  /// The same, with the nanoseconds that links took: `transfers` and `kernels` are added to.
  struct Spent {
    std::int64_t transfers = 0, kernels = 0;
  };
  void run_timed(const TensorTable& tensors, Spent& spent);

  /// For callers that run the steps themselves: the state as before the first step.
  Machine prepare(const TensorTable& tensors);
  bool is_overlapped() const { return workload_->overlapped; }

 private:
  const Workload* workload_;
  std::span<std::byte* const> memories_;
  std::vector<std::vector<Joint>> joints_;  // by link: sources, sink
  std::unique_ptr<KernelParameters[]> parameters_;
  std::vector<LinkCode> links_;
  std::vector<JointState> states_;
  std::vector<std::byte*> buffers_;
  std::vector<std::int64_t> spent_;
};

}  // namespace millrace::workload
