#pragma once
// Plug-ins asked for operators that the reader of models does not know.
#include <memory>

#include "engine/options.h"
#include "formats/foreign_operators.h"

namespace millrace::engine::plugin {

/// Asks ONNX Runtime, then the plug-ins that the options name. They are opened with the first
/// question. A network keeps what its layers need.
std::shared_ptr<const formats::ForeignOperators> foreign_operators(const EngineOptions& options);

}  // namespace millrace::engine::plugin
