#pragma once
// --trace of run and bench.
#include "product/loaded.h"
#include "runtime/loaded/trace_file.h"

namespace millrace::product {

using runtime::TraceOptions;

/// Before the work: the file can be written, and is none that `runnable` is read from.
void check_trace(const TraceOptions& options, const RunnableOptions& runnable);

}  // namespace millrace::product
