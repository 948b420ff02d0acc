#include "runtime/channel.h"

#include <cassert>

namespace millrace::runtime {

Channel::Channel(std::int64_t capacity, Time writer_spin, Time reader_spin)
    : writer_{writer_spin}, reader_{reader_spin}, capacity_(static_cast<std::uint32_t>(capacity)) {
  assert(capacity >= 1 && capacity <= largest_capacity);
}

bool Channel::wait_for_space() {
  Side& side = writer_;
  if (written_.read().closed()) return false;
  if (difference(side.own, side.other) < capacity_) return true;
  const Counter::Value value = read_.wait(
      [&](Counter::Value read) {
        return read.closed() || difference(side.own, read.count()) < capacity_;
      },
      side.spin);
  side.other = value.count();
  return !value.closed();
}

bool Channel::has_space() {
  Side& side = writer_;
  if (written_.read().closed()) return false;
  side.other = read_.read().count();
  return difference(side.own, side.other) < capacity_;
}

bool Channel::is_empty() {
  writer_.other = read_.read().count();
  return writer_.own == writer_.other;
}

void Channel::push() {
  assert(difference(writer_.own, writer_.other) < capacity_);
  writer_.own = (writer_.own + 1) & mask;
  written_.raise();
}

bool Channel::wait_for_token() {
  Side& side = reader_;
  if (read_.read().closed()) return false;
  if (difference(side.other, side.own) > 0) return true;
  const Counter::Value value = written_.wait(
      [&](Counter::Value written) {
        return written.finished() || difference(written.count(), side.own) > 0;
      },
      side.spin);
  side.other = value.count();
  return !value.closed() && difference(side.other, side.own) > 0;
}

void Channel::pop() {
  assert(difference(reader_.other, reader_.own) > 0);
  reader_.own = (reader_.own + 1) & mask;
  read_.raise();
}

void Channel::close() {
  written_.close();
  read_.close();
}

}  // namespace millrace::runtime
