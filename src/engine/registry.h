#pragma once
// The engines of this build, in order of preference: an explicit list that CMake writes.
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/engine.h"
#include "engine/options.h"

namespace millrace::engine {

std::vector<std::string> engine_names();
/// InputError with the names there are and the nearest one.
std::unique_ptr<Engine> make_engine(std::string_view name, const EngineOptions& options = {});

}  // namespace millrace::engine
