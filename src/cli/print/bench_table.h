#pragma once
// What `bench` measured, for people and for programs.
#include <optional>
#include <string>
#include <vector>

#include "api/bench/measured_now.h"
#include "api/model.h"
#include "report/roofline.h"
#include "runtime/load.h"
#include "runtime/session.h"

namespace millrace::cli {

struct BenchRow {
  std::string name;
  Time deployed{};                    // how long it took to deploy it
  Time first{};                       // the first inference after deployment
  std::vector<runtime::Load> rounds;  // interleaved with those of the other rows
  std::optional<double> joules = {};  // of the machine during all rounds
};

struct BenchResult {
  std::vector<BenchRow> rows;                    // baselines first, the plan last
  std::vector<runtime::StageStatistics> stages;  // of the plan, over all rounds
  std::vector<std::vector<Time>> alone;  // by round, by stage: one frame, all other stages idle
  std::optional<api::MeasuredNow> now = {};   // of the plan; of a simulated board none
  bool shared = false;                   // the plan is one of plan::is_shared
  report::Rooflines rooflines;  // without what `rows` and `stages` tell; of a simulated board empty
  std::int64_t in_flight = 0;   // frames on their way at most; 0: all that fit
  std::string no_energy = {};   // why no energy was measured; empty: it was, or is nobody's here
};

/// Frames per second of each round, sorted.
std::vector<double> rates(const BenchRow& row);
/// Of all rounds together, sorted.
std::vector<Time> latencies(const BenchRow& row);

/// "resnet18 on 2 cores".
std::string bench_title(const api::Loaded& loaded);
std::string bench_text(const BenchResult& result);
std::string bench_json(const BenchResult& result);

}  // namespace millrace::cli
