#pragma once
// An edge of a task graph at run time: its tokens, and who waits for them.
#include <cstdint>
#include <span>
#include <vector>

#include "network/tensor.h"
#include "runtime/channel.h"

namespace millrace::runtime {

/// In tokens, but for the size of one.
struct QueueShape {
  std::int64_t produces = 1, consumes = 1;  // of a firing
  std::int64_t initial = 0;                 // that are there before the first firing: zeros
  std::int64_t space = 1;                   // at least the three above
  std::int64_t bytes = 0;                   // of a token
};

/// First in, first out, for firings that write and read several tokens at once. One thread writes,
/// one reads, perhaps the same. Tokens of a firing lie one behind the other: in the queue, or,
/// where its end is between them, in a copy.
class TokenQueue {
 public:
  explicit TokenQueue(const QueueShape& shape);

  // The writer's side.
  /// Waits for space for a firing; false: never.
  bool wait_for_space() { return channel_.wait_for_space(shape_.produces); }
  /// Precondition: there is space.
  std::span<std::byte> to_write();
  void write();
  /// The same, of a firing's tokens: by token 1, or 0 if it is empty.
  void write(std::span<const std::uint8_t> filled);
  /// No firing will write any more.
  void finish() { channel_.finish(); }

  // The reader's side.
  /// Waits for the tokens of a firing; false: never.
  bool wait_for_tokens() { return channel_.wait_for_token(shape_.consumes); }
  /// Precondition: they are there.
  std::span<const std::byte> to_read();
  /// Whether each of these tokens is filled, as they were written.
  std::span<const std::uint8_t> filled();
  void read();

  // Any thread.
  void close() { channel_.close(); }
  std::int64_t produced_at_once() const { return shape_.produces; }

 private:
  std::size_t size_of(std::int64_t tokens) const {
    return static_cast<std::size_t>(tokens * shape_.bytes);
  }
  bool is_split(std::int64_t at, std::int64_t tokens) const { return at + tokens > shape_.space; }

  const QueueShape shape_;
  Channel channel_;
  network::Buffer memory_;
  std::vector<std::uint8_t> filled_;  // by place in the memory; who may write that may write this
  // For each of the two sides: the position of the next token, and the copy.
  std::int64_t write_at_ = 0, read_at_ = 0;
  network::Buffer write_copy_, read_copy_;
  std::vector<std::uint8_t> read_filled_;
};

}  // namespace millrace::runtime
