#include "remote/link.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace millrace::remote {
namespace {

void stop_blocking(int descriptor) {
  ::fcntl(descriptor, F_SETFL, ::fcntl(descriptor, F_GETFL) | O_NONBLOCK);
}

bool is_for_later(int error) {
  return error == EAGAIN || error == EWOULDBLOCK || error == EINTR;
}

}  // namespace

Link::Link(int in, int out) : in_(in), out_(out) {
  stop_blocking(in);
  stop_blocking(out);
}

void Link::send(Kind kind, std::string_view body) {
  if (is_closed_ || is_mute_) return;
  to_write_ += framed(kind, body);
  if (kind == Kind::beat) return;
  beaten_ = Clock::now();  // every message says that this side is there
}

void Link::beat() {
  const auto now = Clock::now();
  if (now - beaten_ < std::chrono::milliseconds(500)) return;
  beaten_ = now;
  if (waiting() < piece_size) send(Kind::beat);
}

void Link::write_some() {
  while (waiting() > 0) {
    const ssize_t count = ::write(out_, to_write_.data() + written_, waiting());
    if (count < 0 && is_for_later(errno)) return;
    if (count < 0) {
      is_mute_ = true;
      to_write_.clear();
      written_ = 0;
      return;
    }
    written_ += static_cast<std::size_t>(count);
    if (written_ < piece_size && waiting() > 0) continue;
    to_write_.erase(0, written_);
    written_ = 0;
  }
}

void Link::read_some() {
  std::array<char, piece_size> bytes;
  const ssize_t count = ::read(in_, bytes.data(), bytes.size());
  if (count < 0 && is_for_later(errno)) return;
  if (count <= 0) {
    is_closed_ = true;
    return;
  }
  heard_ = Clock::now();
  const std::string_view came(bytes.data(), static_cast<std::size_t>(count));
  if (is_greeted_) reader_.feed(came);
  else before_greeting_ += came;
}

bool Link::is_greeted() {
  constexpr std::size_t most_before = std::size_t{1} << 20;
  if (is_greeted_) return true;
  const std::size_t at = before_greeting_.find(greeting);
  if (at == std::string::npos) {
    if (before_greeting_.size() > most_before) throw BadMessage("a shell there prints without end");
    return false;
  }
  is_greeted_ = true;
  reader_.feed(std::string_view(before_greeting_).substr(at + greeting.size()));
  before_greeting_.clear();
  return true;
}

std::optional<WireMessage> Link::next() {
  std::optional<WireMessage> message = reader_.next();
  while (message && message->kind == Kind::beat) message = reader_.next();
  return message;
}

}  // namespace millrace::remote
