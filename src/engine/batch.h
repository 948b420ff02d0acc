#pragma once
// Subnets of several frames at once, on any engine.
#include "engine/engine.h"

namespace millrace::engine {

/// Prepares the request for `batch` frames at once, if that is more than one: all ports are plain
/// and hold that many frames, one behind the other. The packed weights are shared with subnets of
/// one frame where the engine packs them in the same way. InputError as Engine::prepare, and if
/// network::can_batch says no to a layer or an input does not come plain.
std::unique_ptr<Subnet> prepare_batch(Engine& engine, const SubnetRequest& request,
                                      std::int64_t batch);

}  // namespace millrace::engine
