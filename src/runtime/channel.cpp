#include "runtime/channel.h"

#include <cassert>

namespace millrace::runtime {
namespace {

EventCount& event_count_of(const Waiting& side, std::unique_ptr<EventCount>& own) {
  if (side.event_count != nullptr) return *side.event_count;
  own = std::make_unique<EventCount>();
  return *own;
}

}  // namespace

Channel::Channel(std::int64_t capacity, Waiting writer, Waiting reader)
    : written_(event_count_of(reader, own_event_counts_[0])),
      read_(event_count_of(writer, own_event_counts_[1])),
      writer_{writer.spin},
      reader_{reader.spin},
      capacity_(static_cast<std::uint32_t>(capacity)) {
  assert(capacity >= 1 && capacity <= largest_capacity);
}

Readiness Channel::space_if(Counter::Value read, std::uint32_t tokens) const {
  if (read.closed()) return Readiness::never;
  return difference(writer_.own, read.count()) + tokens <= capacity_ ? Readiness::yes
                                                                     : Readiness::not_yet;
}

Readiness Channel::token_if(Counter::Value written, std::uint32_t tokens) const {
  if (!written.closed() && difference(written.count(), reader_.own) >= tokens)
    return Readiness::yes;
  return written.finished() ? Readiness::never : Readiness::not_yet;
}

Readiness Channel::space(std::int64_t tokens) {
  const auto count = static_cast<std::uint32_t>(tokens);
  assert(count <= capacity_);
  if (written_.read().closed()) return Readiness::never;
  if (difference(writer_.own, writer_.other) + count <= capacity_) return Readiness::yes;
  const Counter::Value read = read_.read();
  writer_.other = read.count();
  return space_if(read, count);
}

bool Channel::wait_for_space(std::int64_t tokens) {
  if (space(tokens) == Readiness::not_yet) {
    const auto settled = [&](Counter::Value read) {
      return space_if(read, static_cast<std::uint32_t>(tokens)) != Readiness::not_yet;
    };
    read_.wait(settled, writer_.spin);
  }
  return space(tokens) == Readiness::yes;
}

std::int64_t Channel::spaces() {
  writer_.other = read_.read().count();
  return capacity_ - difference(writer_.own, writer_.other);
}

void Channel::push(std::int64_t tokens) {
  const auto count = static_cast<std::uint32_t>(tokens);
  assert(difference(writer_.own, writer_.other) + count <= capacity_);
  writer_.own = (writer_.own + count) & mask;
  written_.raise(count);
}

Readiness Channel::token(std::int64_t tokens) {
  const auto count = static_cast<std::uint32_t>(tokens);
  assert(count <= capacity_);
  if (read_.read().closed()) return Readiness::never;
  if (difference(reader_.other, reader_.own) >= count) return Readiness::yes;
  const Counter::Value written = written_.read();
  reader_.other = written.count();
  return token_if(written, count);
}

bool Channel::wait_for_token(std::int64_t tokens) {
  if (token(tokens) == Readiness::not_yet) {
    const auto settled = [&](Counter::Value written) {
      return token_if(written, static_cast<std::uint32_t>(tokens)) != Readiness::not_yet;
    };
    written_.wait(settled, reader_.spin);
  }
  return token(tokens) == Readiness::yes;
}

std::int64_t Channel::tokens() {
  reader_.other = written_.read().count();
  return difference(reader_.other, reader_.own);
}

void Channel::pop(std::int64_t tokens) {
  const auto count = static_cast<std::uint32_t>(tokens);
  assert(difference(reader_.other, reader_.own) >= count);
  reader_.own = (reader_.own + count) & mask;
  read_.raise(count);
}

void Channel::close() {
  written_.close();
  read_.close();
}

}  // namespace millrace::runtime
