#pragma once
// The memory of one tensor in a pipeline: a ring of frames that all its channels share.
#include <cstdint>
#include <memory>
#include <vector>

#include "base/units.h"
#include "engine/engine.h"
#include "network/tensor.h"

namespace millrace::runtime {

/// Allocated once, aligned to network::tensor_alignment. Who may touch frame f is said by the
/// channels: its one writer from space to push, its readers from token to pop.
class Slots {
 public:
  /// EngineError naming `tensor` if there is not enough memory.
  Slots(const std::string& tensor, Bytes size, std::int64_t capacity);

  /// Slots in a device's memory: each of these handles, at least one, is a slot.
  Slots(Bytes size, std::vector<std::shared_ptr<std::byte>> handles);

  /// Where to write it. Precondition: nothing stands in for it.
  std::byte* of(std::int64_t frame) {
    if (!handles_.empty()) return handles_[slot_of(frame)].get();
    return memory_.data() + (frame % capacity_) * stride_;
  }
  /// Where to read it.
  const std::byte* at(std::int64_t frame) const {
    if (!handles_.empty()) return handles_[slot_of(frame)].get();
    const network::Buffer* const other = stand_in_of(frame);
    return other != nullptr ? other->data() : memory_.data() + (frame % capacity_) * stride_;
  }
  /// Who writes the frame has it in this memory already, as many bytes; it is kept until another
  /// frame takes the slot. Null: nothing stands in for it.
  void stand_in(std::int64_t frame, std::shared_ptr<const network::Buffer> memory);
  /// Whether the frames from `first` on lie one behind the other without gaps.
  bool are_joined(std::int64_t first, std::int64_t count) const;
  /// Size of one slot.
  Bytes size() const { return size_; }
  std::int64_t capacity() const { return capacity_; }

 private:
  const network::Buffer* stand_in_of(std::int64_t frame) const {
    return stand_ins_[slot_of(frame)].get();
  }
  std::size_t slot_of(std::int64_t frame) const {
    return static_cast<std::size_t>(frame % capacity_);
  }

  Bytes size_;
  std::int64_t capacity_;
  std::int64_t stride_;
  network::Buffer memory_;
  std::vector<std::shared_ptr<std::byte>> handles_;  // in a device's memory, by slot; else none
  std::vector<std::shared_ptr<const network::Buffer>> stand_ins_;  // by slot
};

/// Slots for what one of the subnet's ports reads or writes, where it does. EngineError naming the
/// tensor if there is not enough memory.
Slots make_slots(const std::string& tensor, const engine::Layout& layout, std::int64_t capacity,
                 engine::Subnet& subnet);

}  // namespace millrace::runtime
