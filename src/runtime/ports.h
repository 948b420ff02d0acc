#pragma once
// What a phase's subnet reads and writes when it fires: slots, or copies of them side by side.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "network/tensor.h"
#include "runtime/slots.h"
#include "schedule/firing.h"

namespace millrace::runtime {

/// The ports of one direction, in the order of the subnet's. For a phase with a batch, the frames
/// of a tensor lie one behind the other: in the slots themselves where these do, else in a copy.
class Ports {
 public:
  /// `slots`: borrowed, one per port.
  Ports(std::vector<Slots*> slots, std::int64_t batch);

  /// Where the subnet finds each port's frames: one, for the subnet of one frame,
  /// or those of a batch; with copies, of fewer where there are fewer, behind which anything may
  /// lie.
  std::span<const std::byte* const> gather(const schedule::Firing& frames);
  /// Where the subnet may put them; scatter() then brings those that there are into their slots.
  std::span<std::byte* const> prepare(const schedule::Firing& frames);
  void scatter(const schedule::Firing& frames);

 private:
  bool is_direct(std::size_t port, const schedule::Firing& frames) const;

  std::vector<Slots*> slots_;
  std::int64_t batch_;
  std::vector<network::Buffer> copies_;  // one per port; none for a batch of 1
  std::vector<const std::byte*> in_;
  std::vector<std::byte*> out_;
};

}  // namespace millrace::runtime
