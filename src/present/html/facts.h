#pragma once
// Inside `html`: what the page's script draws from, as JSON.
#include <nlohmann/json.hpp>
#include <vector>

#include "base/trace.h"
#include "product/planning/report.h"

namespace millrace::present {

/// Who worked on what when, in microseconds: rows of numbers, as the script says. Of very long
/// traces the first firings; `firings_left_out` says how many are missing.
nlohmann::json trace_facts(const Trace& trace);

/// In any order: percentiles and a histogram. Null if there are none.
nlohmann::json latency_facts(std::vector<Time> latencies);

/// By layer: what it is, where it runs, and what it reads from.
nlohmann::json layer_facts(const product::Analysis& analysis);

/// By layer: how long it takes on the first processor of its stage, in its precision. Null where no
/// profile has it.
nlohmann::json layer_times(const product::Analysis& analysis,
                           const std::vector<profile::Profile>& profiles);

/// Its name and size, and the shapes of its inputs and outputs.
nlohmann::json network_facts(const network::Network& network);

/// By stage: layers, operations, and what one replica keeps in memory.
nlohmann::json stage_facts(const product::Analysis& analysis);

}  // namespace millrace::present
