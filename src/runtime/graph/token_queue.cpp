#include "runtime/graph/token_queue.h"

#include <cstring>

namespace millrace::runtime {

TokenQueue::TokenQueue(const QueueShape& shape)
    : shape_(shape),
      channel_(shape.space, Time{}, Time{}),
      memory_(Bytes{shape.space * shape.bytes}),
      filled_(static_cast<std::size_t>(shape.space), 1),
      write_copy_(Bytes{shape.produces * shape.bytes}),
      read_copy_(Bytes{shape.consumes * shape.bytes}),
      read_filled_(static_cast<std::size_t>(shape.consumes), 1) {
  if (shape_.initial == 0) return;
  channel_.push(shape_.initial);
  write_at_ = shape_.initial % shape_.space;
}

std::span<std::byte> TokenQueue::to_write() {
  if (is_split(write_at_, shape_.produces)) return write_copy_.bytes();
  return memory_.bytes().subspan(size_of(write_at_), size_of(shape_.produces));
}

void TokenQueue::write(std::span<const std::uint8_t> filled) {
  for (std::size_t i = 0; i < filled.size(); ++i)
    filled_[(static_cast<std::size_t>(write_at_) + i) % filled_.size()] = filled[i];
  write();
}

std::span<const std::uint8_t> TokenQueue::filled() {
  for (std::size_t i = 0; i < read_filled_.size(); ++i)
    read_filled_[i] = filled_[(static_cast<std::size_t>(read_at_) + i) % filled_.size()];
  return read_filled_;
}

void TokenQueue::write() {
  if (is_split(write_at_, shape_.produces) && shape_.bytes > 0) {
    const std::size_t first = size_of(shape_.space - write_at_);
    std::memcpy(memory_.data() + size_of(write_at_), write_copy_.data(), first);
    std::memcpy(memory_.data(), write_copy_.data() + first, size_of(shape_.produces) - first);
  }
  write_at_ = (write_at_ + shape_.produces) % shape_.space;
  channel_.push(shape_.produces);
}

std::span<const std::byte> TokenQueue::to_read() {
  if (!is_split(read_at_, shape_.consumes))
    return std::as_const(memory_).bytes().subspan(size_of(read_at_), size_of(shape_.consumes));
  if (shape_.bytes > 0) {
    const std::size_t first = size_of(shape_.space - read_at_);
    std::memcpy(read_copy_.data(), memory_.data() + size_of(read_at_), first);
    std::memcpy(read_copy_.data() + first, memory_.data(), size_of(shape_.consumes) - first);
  }
  return std::as_const(read_copy_).bytes();
}

void TokenQueue::read() {
  read_at_ = (read_at_ + shape_.consumes) % shape_.space;
  channel_.pop(shape_.consumes);
}

}  // namespace millrace::runtime
