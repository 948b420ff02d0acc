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
bool Ports::is_direct(std::size_t port, const schedule::Firing& frames) const {
  if (frames.count == 1) return true;
  return frames.count == batch_ && frames.step == 1 &&
         slots_[port]->are_joined(frames.frame, frames.count);
}

std::span<const std::byte* const> Ports::gather(const schedule::Firing& frames) {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (is_direct(i, frames)) {
      in_[i] = slots_[i]->at(frames.frame);
      continue;
    }
    std::byte* to = copies_[i].data();
    in_[i] = to;
    for (std::int64_t n = 0; n < frames.count; ++n)
      to = std::copy_n(slots_[i]->at(frames.frame + n * frames.step), slots_[i]->size().count, to);
  }
  return in_;
}

std::span<std::byte* const> Ports::prepare(const schedule::Firing& frames) {
  for (std::size_t i = 0; i < slots_.size(); ++i)
    out_[i] = is_direct(i, frames) ? slots_[i]->of(frames.frame) : copies_[i].data();
  return out_;
}

void Ports::scatter(const schedule::Firing& frames) {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (is_direct(i, frames)) continue;
    const std::byte* from = copies_[i].data();
    const std::int64_t size = slots_[i]->size().count;
    for (std::int64_t n = 0; n < frames.count; ++n, from += size)
      std::copy_n(from, size, slots_[i]->of(frames.frame + n * frames.step));
  }
}

}  // namespace millrace::runtime
