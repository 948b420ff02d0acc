#pragma once
// In which variants layers run, and why in these.
#include <string>

#include "network/network.h"
#include "plan/plan.h"
#include "profile/profile.h"

namespace millrace::report {

/// How many of the stage's layers that multiply and add run in each variant: "12 f32:winograd, 8
/// f32"; "-" if it has none.
std::string variants_text(const plan::Plan& plan, const network::Network& network,
                          std::size_t stage);

/// One row per variant that was measured for the layer on the processor: its time, its error, and
/// why it was not taken. Empty if there is only one way to run the layer.
std::string alternatives_text(const profile::Profile& profile, const board::Processor& processor,
                              LayerId layer, const board::Variant& chosen);

}  // namespace millrace::report
