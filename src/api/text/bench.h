#pragma once
// What `bench` measured, for people.
#include <string>

#include "api/bench/bench.h"

namespace millrace::api {

/// "resnet18 on 2 cores".
std::string bench_title(const Loaded& loaded);
std::string bench_text(const BenchResult& result);

}  // namespace millrace::api
