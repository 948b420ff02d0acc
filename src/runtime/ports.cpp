#include "runtime/ports.h"

#include <algorithm>
#include <utility>

namespace millrace::runtime {

Ports::Ports(std::vector<Slots*> slots, std::int64_t batch)
    : slots_(std::move(slots)), batch_(batch), in_(slots_.size()), out_(slots_.size()) {
  if (batch_ == 1) return;
  for (const Slots* slots_of_port : slots_) copies_.emplace_back(slots_of_port->size() * batch_);
}

/// Slots that are not the phase's own must not be touched, so not with fewer frames than the subnet
/// works on.
bool Ports::is_direct(std::size_t port, std::int64_t first, std::int64_t count) const {
  return (count == batch_ || count == 1) && slots_[port]->are_joined(first, count);
}

std::span<const std::byte* const> Ports::gather(std::int64_t first, std::int64_t count) {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (is_direct(i, first, count)) {
      in_[i] = slots_[i]->at(first);
      continue;
    }
    std::byte* to = copies_[i].data();
    in_[i] = to;
    for (std::int64_t frame = first; frame < first + count; ++frame)
      to = std::copy_n(slots_[i]->at(frame), slots_[i]->size().count, to);
  }
  return in_;
}

std::span<std::byte* const> Ports::prepare(std::int64_t first, std::int64_t count) {
  for (std::size_t i = 0; i < slots_.size(); ++i)
    out_[i] = is_direct(i, first, count) ? slots_[i]->of(first) : copies_[i].data();
  return out_;
}

void Ports::scatter(std::int64_t first, std::int64_t count) {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (is_direct(i, first, count)) continue;
    const std::byte* from = copies_[i].data();
    const std::int64_t size = slots_[i]->size().count;
    for (std::int64_t frame = first; frame < first + count; ++frame, from += size)
      std::copy_n(from, size, slots_[i]->of(frame));
  }
}

}  // namespace millrace::runtime
