#pragma once
// Frames of a plan whose stages are all replicas of one: the caller gives each to whoever has the
// fewest on the way, instead of in turns. Where processors differ in speed, or others slow one of
// them down for a while, all of them stay busy.
#include <cstddef>
#include <cstdint>
#include <vector>

namespace millrace::runtime {

/// Some numbers of the last frames. Guarded by the channel beside it, as a slot is.
class Numbers {
 public:
  explicit Numbers(std::int64_t capacity) : numbers_(static_cast<std::size_t>(capacity)) {}
  std::int64_t& of(std::int64_t frame) {
    return numbers_[static_cast<std::size_t>(frame) % numbers_.size()];
  }
  std::int64_t of(std::int64_t frame) const {
    return numbers_[static_cast<std::size_t>(frame) % numbers_.size()];
  }

 private:
  std::vector<std::int64_t> numbers_;
};

/// Who has which frame.
struct Shared {
  Numbers replica;                  // by the caller's number of the frame
  std::vector<Numbers> numbers;     // by replica: the caller's numbers of the frames it has got
  std::vector<std::int64_t> given;  // by replica: how many; touched by the writing side alone
};

}  // namespace millrace::runtime
