#pragma once
// In which variants layers run, and why in these.
#include <cstddef>
#include <map>
#include <string>

#include "network/network.h"
#include "plan/plan.h"
#include "profile/profile.h"

namespace millrace::present {

/// How many of the stage's layers that multiply and add run in each variant: "12 f32:winograd, 8
/// f32"; "-" if it has none.
std::string variants_text(const plan::Plan& plan, const network::Network& network,
                          std::size_t stage);

/// By engine, which run how many of the plan's layers.
std::map<std::string, std::size_t> layers_by_engine(const plan::Plan& plan);

/// What the engines that were measured, joined by commas, run of the plan: "onednn runs 60 layers,
/// onnxruntime 9". Empty if it was one engine.
std::string engines_text(const std::string& measured, const plan::Plan& plan);

/// One row per variant that was measured for the layer on the processor: its time, its error, and
/// why it was not taken. Empty if there is only one way to run the layer.
std::string alternatives_text(const profile::Profile& profile, const board::Processor& processor,
                              LayerId layer, const board::Variant& chosen);

}  // namespace millrace::present
