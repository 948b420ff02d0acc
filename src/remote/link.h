#pragma once
// Messages over two descriptors of this process.
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "remote/wire.h"

namespace millrace::remote {

using Clock = std::chrono::steady_clock;

/// How long either side waits for something at a time.
inline constexpr std::chrono::milliseconds tick{100};
/// Bytes; who would send more waits until the connection takes some.
inline constexpr std::size_t most_waiting = 4 * piece_size;

/// Nothing here waits. The descriptors are borrowed, and do not block any more. One thread.
class Link {
 public:
  Link(int in, int out);

  int in() const { return in_; }
  int out() const { return out_; }

  void send(Kind kind, std::string_view body = {});
  void send_greeting() { to_write_ += greeting; }
  /// A beat, if the last one was half a second ago.
  void beat();
  /// Bytes that are still to be written.
  std::size_t waiting() const { return to_write_.size() - written_; }

  /// Writes what can be written now.
  void write_some();
  /// Reads what is there now, at most a piece.
  void read_some();
  /// The next message that came; beats are none. BadMessage as FrameReader.
  std::optional<WireMessage> next();
  /// From now on the greeting is looked for; what comes before it is passed over.
  void await_greeting() { is_greeted_ = false; }
  /// Whether it came. BadMessage if much comes before it.
  bool is_greeted();

  /// The other side closed its end.
  bool is_closed() const { return is_closed_; }
  /// When bytes came last.
  Clock::time_point heard() const { return heard_; }
  void hear_now() { heard_ = Clock::now(); }

 private:
  int in_, out_;
  FrameReader reader_;
  std::string before_greeting_;
  bool is_greeted_ = true;
  std::string to_write_;
  std::size_t written_ = 0;
  bool is_closed_ = false;
  bool is_mute_ = false;  // the other side reads no more; what it wrote may still come
  Clock::time_point heard_ = Clock::now(), beaten_{};
};

}  // namespace millrace::remote
