#pragma once
// The energy of plans for boards whose file has a table of power.
#include <memory>
#include <optional>
#include <vector>

#include "board/energy.h"
#include "board/power.h"
#include "plan/evidence.h"
#include "plan/origin.h"
#include "plan/plan.h"
#include "runtime/waiting/repeated.h"

namespace millrace::runtime {

/// The board that the plan was made for, as it was; none: this machine, or a file that has changed.
std::optional<board::Board> board_of(const plan::Origin& origin);

/// Borrowed.
struct PlannedFrames {
  const plan::Plan& plan;
  const network::Network& network;
  const plan::Origin& origin;
};

/// Energy of a frame, at the predicted times, a frame every `interval_s`; empty: nobody knows.
std::vector<board::DeviceEnergy> predicted_energy(const PlannedFrames& of,
                                                  const plan::Evidence& evidence,
                                                  double interval_s);

/// What links between boards draw for a frame: device "second.link" of board "second".
std::vector<board::DeviceEnergy> link_energy(const PlannedFrames& of);

/// Calls the meter's sample() beside the work, if it needs samples. Borrows it.
std::unique_ptr<Repeated> sampler_of(board::EnergyMeter& meter);

}  // namespace millrace::runtime
