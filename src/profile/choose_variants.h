#pragma once
// Inside the profile room: tries the variants of a precision and takes the best of each layer.
#include "profile/pass.h"

namespace millrace::profile {

/// By LayerId: the variants that the engine offers, its own choice first.
using Ways = std::vector<Variants>;

struct MeasuredVariants {
  ProcessorProfile profile;
  Time own{};  // the whole network with the engine's own choices
};

/// The whole network in the precision, each layer in its best variant.
/// First a run with the engine's own choices. Then one run for each algorithm, on every layer that
/// offers it: one repetition, and more only if some layer comes out about as fast as in the best
/// run so far. Errors are measured of what is not far slower than the best within the bound. Last,
/// a run with the fastest of each layer within the bound; where neighbours make it slower than the
/// engine's own choice, that is taken back. Only the result is measured as long as the options say.
/// `known`: the same on another processor, or null; if this one is as fast, its alternatives, its
/// choice and the times alone are taken over, and the choice is measured. InputError if no variant
/// of a layer in f32 meets the bound; in another precision such a layer stays in f32.
MeasuredVariants measure_variants(const Subject& subject, board::Precision precision,
                                  const Ways& ways, const MeasuredVariants* known);

}  // namespace millrace::profile
