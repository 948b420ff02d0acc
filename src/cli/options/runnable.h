#pragma once
// What is run, and how.
#include <CLI/CLI.hpp>

#include "api/application/load.h"
#include "api/loaded.h"
#include "api/trace.h"

namespace millrace::cli {

/// `files`: which of ours the verb takes, as a sentence begins: "A plan file (.json)".
void bind_runnable(CLI::App& verb, api::RunnableOptions& options, const std::string& files);
CLI::Option* bind_time_scale(CLI::App& verb, api::RunnableOptions& options);  // --time-scale
/// --plan, --plugin, --frames, --labels-from
void bind_application(CLI::App& verb, api::ApplicationOptions& options);
/// --trace, --trace-frames; the first.
CLI::Option* bind_trace(CLI::App& verb, api::TraceOptions& options);

}  // namespace millrace::cli
