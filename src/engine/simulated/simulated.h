#pragma once
// Runs no layer, but takes the time that a function gives: tests of what lies above engines need
// no hardware. Also the skeleton to copy for a new library:
//
//   1. Copy this folder to engine/NAME and rename; CMakeLists.txt names the room engine/NAME.
//   2. Add add_engine(NAME) to engine/CMakeLists.txt, at its place in the order of preference.
//   3. simulated.cpp: say in supports() which layers the library can run on which processor, and
//      for the others why not; create its handles in the constructor.
//   4. subnet.cpp: build the library's graph in the constructor, run it in run(). A library that
//      can only be timed as a whole gives one GroupTime with all layers.
//   5. The tests in engine_conformance run on the new engine without a change; what is known not
//      to work goes, with its reason, into their list of exceptions.
#include <functional>
#include <memory>

#include "engine/engine.h"
#include "engine/options.h"

namespace millrace::engine::simulated {

/// How long a layer takes on a processor.
using LayerTime = std::function<Time(const network::Network&, LayerId, const board::Processor&)>;

/// One nanosecond per multiply-accumulate, and one for each 8 bytes read or written: a core of
/// 1 GMAC/s and 8 GB/s. The same on every processor.
Time one_gmac_per_second(const network::Network& network, LayerId layer,
                         const board::Processor& processor);

/// An engine that spins for the sum of its layers' times. Its outputs are no results but a mark
/// of the layers and input bytes they depend on: a lost, stale or swapped tensor shows in them,
/// a cut into subnets does not. All tensors are plain.
std::unique_ptr<Engine> make(LayerTime time = one_gmac_per_second);
std::unique_ptr<Engine> make(const EngineOptions& options);

}  // namespace millrace::engine::simulated
