#pragma once
// The memory of one tensor in a pipeline: a ring of frames that all its channels share.
#include <cstdint>

#include "base/units.h"
#include "network/tensor.h"

namespace millrace::runtime {

/// Allocated once, aligned to network::tensor_alignment. Who may touch frame f is said by the
/// channels: its one writer from space to push, its readers from token to pop.
class Slots {
 public:
  /// EngineError naming `tensor` if there is not enough memory.
  Slots(const std::string& tensor, Bytes size, std::int64_t capacity);

  std::byte* of(std::int64_t frame) { return memory_.data() + (frame % capacity_) * stride_; }
  /// Whether the frames from `first` on lie one behind the other without gaps.
  bool are_joined(std::int64_t first, std::int64_t count) const {
    return count == 1 || (stride_ == size_.count && first % capacity_ + count <= capacity_);
  }
  /// Of one slot.
  Bytes size() const { return size_; }
  std::int64_t capacity() const { return capacity_; }

 private:
  Bytes size_;
  std::int64_t capacity_;
  std::int64_t stride_;
  network::Buffer memory_;
};

}  // namespace millrace::runtime
