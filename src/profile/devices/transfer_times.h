#pragma once
// What it takes to bring tensors into a device's memory, and out of it.
#include <optional>

#include "base/units.h"
#include "engine/engine.h"
#include "profile/profile.h"

namespace millrace::profile {

/// Measured for several sizes in both directions; per float32 element, and per tensor. Nothing: the
/// engine works in the host's memory on that processor. EngineError if the device fails.
struct TransferTimes {
  double read_ns = 0, write_ns = 0;  // per element: in, out
  double in_ns = 0, out_ns = 0;      // per tensor
};
std::optional<TransferTimes> measure_transfers(engine::Engine& engine,
                                               const board::Processor& processor);

/// With these times at each border, also at the network's ends.
BorderCosts with_transfers(BorderCosts borders, const TransferTimes& times);

/// A line through two sizes of the tensor and their times, both in ns or more: what each element
/// adds, and what is left at none; neither is below 0.
struct LineOfTimes {
  double element = 0, tensor = 0;
};
LineOfTimes line_through(double small_elements, double small_ns, double large_elements,
                         double large_ns);

}  // namespace millrace::profile
