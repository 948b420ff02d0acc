#pragma once
// What `bench` measured: schemas/bench.schema.json and bench_slices.schema.json.
#include <string>

#include "product/bench/bench.h"

namespace millrace::present {

/// All tables.
std::string bench_text(const product::Loaded& loaded, const product::BenchResult& result);
/// In a few lines: how fast, against what, what limits it, what to type next. `file`: the plan,
/// model or name that was measured.
std::string bench_answer(const product::Loaded& loaded, const product::BenchResult& result,
                         const std::string& file);
/// For a network without layers, for which nothing can be measured, the result has no rows.
std::string bench_json(const product::BenchResult& result);

/// The lines of `bench --on-request`: the first, and one for each slice.
std::string ready_line(Time first);
std::string slice_line(const runtime::Load& load);

}  // namespace millrace::present
