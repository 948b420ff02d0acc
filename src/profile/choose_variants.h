#pragma once
// Inside the profile room: tries the variants of a precision and takes the best of each layer.
#include "profile/network_run.h"

namespace millrace::profile {

/// By LayerId: the variants that the engine offers, its own choice first.
using Ways = std::vector<Variants>;

/// A processor's times, and the trial that gave them, in the variants chosen.
struct Measured {
  ProcessorProfile profile;
  NetworkTrial trial;
};

/// The whole network in the precision, each layer in its best variant.
/// First runs with the engine's own choices. Then, for each algorithm, runs with it in every layer
/// that offers it (algorithms that no layer offers both are tried together), in turns with the
/// fastest so far. The engine's own choices, and those where some layer comes out about as fast as
/// in the best runs so far, and the whole network too, are visited again when all have been tried,
/// and the faster visit counts.
/// Errors are measured of what is not far slower than the best within the bound. The base is the
/// algorithm with which the whole network is fastest; a layer leaves it for one within the bound
/// that is clearly faster. Last, runs with those, in turns with the base; where neighbours make a
/// layer slower, it is taken back if that makes the whole network faster. Only the result is
/// measured as long as the options say.
/// `known`: the same on another processor of the device, or null; its alternatives, its choice and
/// the times alone are taken over, and the choice is measured.
/// InputError if no variant of a layer in f32 meets the bound; in another precision such a layer
/// stays in f32.
Measured measure_variants(const MeasurementTarget& target, board::Precision precision,
                          const Ways& ways, const ProcessorProfile* known);

}  // namespace millrace::profile
