#pragma once
// What `bench` measured, for programs: schemas/bench.schema.json and bench_slices.schema.json.
#include <string>

#include "api/bench/bench.h"

namespace millrace::api {

/// Of a network without layers, for which nothing can be measured, the result has no rows.
std::string bench_json(const BenchResult& result);

/// The lines of `bench --on-request`: the first, and one for each slice.
std::string ready_line(Time first);
std::string slice_line(const runtime::Load& load);

}  // namespace millrace::api
