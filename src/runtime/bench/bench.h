#pragma once
// Plans under load, beside the usual ways to use the same cores, all interleaved.
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "board/power.h"
#include "profile/views/roofline.h"
#include "runtime/bench/measured_now.h"
#include "runtime/load.h"
#include "runtime/loaded/loaded.h"
#include "runtime/loaded/trace_file.h"
#include "runtime/session.h"

namespace millrace::runtime {

struct BenchOptions {
  double duration_s = 5, warmup_s = 0.5;       // of each row
  std::optional<int> rounds = {};              // none: 25, or fewer of a network that is slow
  std::optional<std::int64_t> in_flight = {};  // 0: all that fit; none: that keep stages busy
  bool baselines = true;
  TraceOptions trace = {};
};

/// A way to run the whole network.
struct Baseline {
  std::string name;  // "gpu alone"
  plan::Assessed assessed;
};

/// What is measured, and beside what.
struct BenchSubject {
  std::string file;  // of the plan, or of the model
  bool is_plan = false;
  std::uint64_t seed = 1;
  std::vector<std::pair<std::string, Loaded*>> beside = {};  // other plans, by file; borrowed
  std::vector<Baseline> simulated = {};  // of a board that is not here
};

struct BenchRow {
  std::string name;
  Time deployed{};                    // how long it took to deploy it
  Time first{};                       // the first inference after deployment
  std::vector<Load> rounds;  // interleaved with those of the other rows
  std::optional<double> joules = {};  // of the machine during all rounds
};

struct BenchResult {
  std::vector<BenchRow> rows;                    // baselines first, the plan last
  std::vector<StageStatistics> stages;  // of the plan, over all rounds
  std::vector<std::vector<Time>>
      alone;  // by round, by replica of a stage: one frame, all other stages idle
  std::optional<MeasuredNow> now = {};  // of the plan; of a simulated board none
  bool shared = false;                           // as plan::is_first_free
  profile::Rooflines
      rooflines;               // without what `rows` and `stages` tell; of a simulated board empty
  std::int64_t in_flight = 0;  // frames on their way at most; 0: all that fit
  std::vector<board::DeviceEnergy> energy = {};  // of a frame of the plan; of a simulated board
  std::string no_energy = {};  // why no energy was measured; empty: it was, or is nobody's here
};

/// Measures the loaded plan. The energy of a simulated board is left out.
BenchResult bench(Loaded& loaded, const BenchOptions& options, const BenchSubject& subject);

/// Frames per second of each round, sorted.
std::vector<double> rates(const BenchRow& row);
/// Latencies of all rounds together, sorted.
std::vector<Time> latencies(const BenchRow& row);

double rate_of(const Load& load);  // frames per second

/// As many as keep the plan's stages busy, or all as if they took equally long, unless told.
std::int64_t in_flight_of(const BenchOptions& options, const plan::Assessed& assessed,
                          const network::Network& network);

}  // namespace millrace::runtime
