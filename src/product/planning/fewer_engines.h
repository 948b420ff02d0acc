#pragma once
// Plans without the engines that competed and lost.
#include "engine/engine.h"
#include "plan/plan.h"
#include "product/context.h"

namespace millrace::product {

/// The plan with only those of the engines joined in `engine` that run some layer of it. The plan
/// as it is if these cannot run all layers that `engine` can: on the plan's processors, and on this
/// machine's cores, where other plans are compared with it.
plan::Plan with_fewer_engines(const plan::Plan& plan, const network::Network& network,
                              const engine::Engine& engine, const millrace::Context& context);

}  // namespace millrace::product
