#pragma once
// Plans under load, beside the usual ways to use the same cores, all interleaved.
#include <optional>
#include <string>
#include <vector>

#include "api/bench/measured_now.h"
#include "api/loaded.h"
#include "api/trace.h"
#include "board/power.h"
#include "report/roofline.h"
#include "runtime/load.h"
#include "runtime/session.h"

namespace millrace::api {

struct BenchRequest {
  RunnableOptions runnable;
  double duration_s = 5, warmup_s = 0.5;            // of each row
  std::optional<int> rounds = {};                   // none: 25, or fewer of a network that is slow
  std::optional<std::int64_t> in_flight = {};       // 0: all that fit; none: that keep stages busy
  std::vector<std::string> beside = {};             // other plans of the network, a row each
  bool baselines = true;
  TraceOptions trace = {};
};

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
  std::vector<std::vector<Time>>
      alone;  // by round, by replica of a stage: one frame, all other stages idle
  std::optional<api::MeasuredNow> now = {};   // of the plan; of a simulated board none
  bool shared = false;                   // as plan::is_first_free
  report::Rooflines rooflines;  // without what `rows` and `stages` tell; of a simulated board empty
  std::int64_t in_flight = 0;   // frames on their way at most; 0: all that fit
  std::vector<board::DeviceEnergy> energy = {};  // of a frame of the plan; of a simulated board
  std::string no_energy = {};   // why no energy was measured; empty: it was, or is nobody's here
};

/// Of the plan that `request.runnable` names, which `loaded` is.
BenchResult bench(Loaded& loaded, const BenchRequest& request);

/// Frames per second of each round, sorted.
std::vector<double> rates(const BenchRow& row);
/// Of all rounds together, sorted.
std::vector<Time> latencies(const BenchRow& row);

/// As many as keep the plan's stages busy, or all as if they took equally long, unless told.
std::int64_t in_flight_of(const BenchRequest& request, const plan::Assessed& assessed,
                          const network::Network& network);

}  // namespace millrace::api
