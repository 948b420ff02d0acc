#pragma once
// What `bench` measured, for people.
#include <string>

#include "api/bench/bench.h"

namespace millrace::cli {

/// "resnet18 on 2 cores".
std::string bench_title(const api::Loaded& loaded);
std::string bench_text(const api::BenchResult& result);

}  // namespace millrace::cli
