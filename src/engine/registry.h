#pragma once
// The engines of this build, in order of preference: an explicit list that CMake writes.
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/device.h"
#include "engine/engine.h"
#include "engine/options.h"
#include "formats/model_source.h"

namespace millrace::engine {

std::vector<std::string> engine_names();

/// Plug-ins in the folders of the user and the package, and those that the options name. They run
/// where somebody names them: see plugin/plugin.h.
std::vector<std::string> plugin_names(const EngineOptions& options = {});

/// The build's, then plug-ins.
std::vector<std::string> names_here(const EngineOptions& options = {});

/// Who is asked for operators that the reader of models does not know: see plugin/foreign.h.
formats::Foreign foreign_operators(const EngineOptions& options);

/// An engine that this build could have had.
struct AbsentEngine {
  std::string name, reason;
};
std::vector<AbsentEngine> absent_engines();

/// Whether one of these engines, joined as for make_engine(), is none of the build.
bool names_plugin(std::string_view names);

/// Whether the engine can start here, or what is missing and how to install it. An engine whose
/// library is not loaded at run time always can. InputError as make_engine.
Verdict can_start(std::string_view name, const EngineOptions& options = {});

/// The same of engines joined as for make_engine(): the reason begins with the first that cannot.
Verdict can_start_all(std::string_view names, const EngineOptions& options = {});

/// InputError with the names there are and the nearest one; EngineError if the engine cannot start.
/// Several names, "onednn,onnxruntime", give an engine that runs each layer with one of them: see
/// combined.h. "onnxruntime@gpu0" takes part on that processor only, "onnxruntime@cpu" on all CPU
/// processors; "@" may follow several times.
std::unique_ptr<Engine> make_engine(std::string_view name, const EngineOptions& options = {});

/// The processors to which engines are restricted: "gpu0" of "onednn,onnxruntime@gpu0". Without
/// "cpu", which is no processor's name.
std::vector<std::string> processors_named(std::string_view names);

/// What these engines, joined by commas, reach here; no names: all of the build that can start.
/// Several that reach one processor: the first. A name with processors, "onnxruntime@gpu0", reaches
/// only these.
std::vector<ReachedDevice> reached_devices(std::string_view names = {},
                                           const EngineOptions& options = {});

/// The name of the first engine that computes all these layers on the processor; one that only
/// simulates does not. InputError naming a layer that none computes.
std::string engine_for(const network::Network& network, std::span<const LayerId> layers,
                       const board::Processor& processor);

}  // namespace millrace::engine
