#pragma once
// How fast plans are, whether they are right, and what they will do elsewhere.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "millrace/options.h"
#include "millrace/plan.h"
#include "millrace/tensor.h"

namespace millrace {
inline namespace v1 {

struct BenchRequest {
  Duration duration = std::chrono::seconds(5);        // of each row
  Duration warmup = std::chrono::milliseconds(500);   // of each row
  std::optional<int> rounds;  // none: 25, or fewer of a model that is slow
  std::optional<std::int64_t> in_flight;  // frames; 0: all that fit; none: that keep stages busy
  std::vector<Plan> beside;               // other plans of the model, a row each
  bool baselines = true;  // one core, all cores layer by layer, one copy per core
  double time_scale = 1;  // of stages for boards that are not here
  std::uint64_t seed = 1;
  Options options;
};

/// One way to run the model. Rows are measured interleaved.
struct BenchRow {
  std::string name;
  double fps = 0;                     // frames per second, the median of the rounds
  std::vector<double> fps_by_round;   // in their order
  Duration p50{}, p90{}, p99{}, largest{};  // of a frame's latency
  Duration start{}, first_frame{};          // to deploy it; the first frame then
  std::optional<double> millijoules;   // of the machine for a frame; none: not measured
};

/// A replica of a stage of the plan, in the pipeline.
struct BenchStage {
  std::string name;
  Duration alone{};      // of one frame, all other stages idle, the median
  Duration busy{};       // of one frame
  double busy_share = 0;  // of its time
};

struct BenchReport {
  std::vector<BenchRow> rows;      // baselines, plans beside, and the plan last
  std::vector<BenchStage> stages;  // of the plan
  std::size_t bottleneck = 0;      // the stage that passes the fewest frames by itself
  double share_of_stages = 0;      // how much of what that stage allows the plan reached
  std::vector<double> speedups;    // by row: how many times as fast as the row the plan is
  std::int64_t in_flight = 0;      // frames on their way at most; 0: all that fit

  const BenchRow& plan() const { return rows.back(); }
};

/// Under load, beside the usual ways to use the same cores. Any thread; two at a time disturb each
/// other's figures.
BenchReport bench(const Plan& plan);
BenchReport bench(const Plan& plan, const BenchRequest& request);

struct VerifyRequest {
  std::vector<Frame> frames;  // none: a few random ones
  int random_mappings = 2;         // that are compared too
  std::string against = "reference";  // the engine of the plain sequential run, in float32
  /// Share of the largest value; none: what the plan's lowest precision allows.
  std::optional<double> tolerance;
  std::uint64_t seed = 1;
  Options options;
};

/// How the outputs of a plan compare with those of the sequential run.
enum class Agreement {
  bit_equal,
  within_tolerance,
  within_rounding,  // float64 shows that rounding explains the difference
  part_by_part,     // each part is right on its own numbers; the model makes differences large
  differs,
};

struct VerifiedPlan {
  std::string name;
  std::int64_t frames = 0;
  double error = 0;  // the largest difference over the largest value
  Agreement agreement = Agreement::differs;
  std::vector<std::string> amplifiers;  // of part_by_part: the layers that enlarge differences
};

struct Verification {
  std::vector<VerifiedPlan> plans;  // the plan, then the random mappings
  std::string first_difference;  // where it is, a sentence; empty: none differs
  std::string nan_layer;         // makes NaN of numbers; empty: none does

  bool is_right() const { return first_difference.empty(); }
};

/// The plan's outputs against a plain sequential run. Any thread.
Verification verify(const Plan& plan);
Verification verify(const Plan& plan, const VerifyRequest& request);

enum class Arrivals {
  closed,    // a frame as soon as there is space
  periodic,  // a frame every period, up to `jitter` later
  poisson,   // independent of each other, one every period on the average
};

struct SimulatedPlan {
  Plan plan;
  Arrivals arrivals = Arrivals::closed;
  Duration period{}, jitter{};
  std::int64_t in_flight = 0;  // frames on their way at most; 0: as many as keep stages busy
  Duration deadline{};         // of a frame; 0: none
};

/// How a processor decides between stages that are ready.
enum class ProcessorPolicy {
  fifo_by_phase,  // first come, first served
  fifo_by_layer,  // the same, but between two layers others have their turn
  preemptive,     // the first plan of the request is the most urgent
};

struct SimulateRequest {
  std::int64_t frames = 1000;  // of each plan
  ProcessorPolicy policy = ProcessorPolicy::fifo_by_phase;
  double best = 1, worst = 1;  // times are drawn between these multiples of the predicted ones
  double scale = 1;            // of all times
  std::uint64_t seed = 1;
  Options options;
};

struct SimulatedResult {
  std::string name;
  std::int64_t frames = 0;
  double fps = 0;
  Duration p50{}, p99{}, largest{};  // of a frame's latency
  std::int64_t missed = 0;           // deadlines
  std::optional<Duration> bound;  // between two frames, by the plan's graph: none is shorter
};

struct SimulatedProcessor {
  std::string name;
  double busy_share = 0;
};

struct Simulation {
  std::vector<SimulatedResult> plans;  // as in the request
  std::vector<SimulatedProcessor> processors;
  Duration elapsed{};                            // simulated
  std::optional<double> millijoules;  // of a frame, by the board's table of power
};

/// A phase on the cycle that limits the rate, and what its end lets begin.
struct CriticalPhase {
  std::string name;  // "stage0, phase 1"; "input"; "output"
  Duration time{};
  std::string then;  // empty: the next phase of the same stage
};

/// What is certain of a plan, from its dataflow graph at its predicted times.
struct Analysis {
  std::optional<Duration> period;   // between two frames, rounded up; none: times are unknown
  std::optional<Duration> latency;  // of a frame by itself
  std::vector<CriticalPhase> critical;
  std::int64_t buffer_bytes = 0;  // of frames between layers, as planned
  /// The least for the same rate; `is_least`: proven.
  std::optional<std::int64_t> least_buffer_bytes;
  bool is_least = false;
  std::optional<double> millijoules;  // of a frame at the highest rate
};

Analysis analyze(const Plan& plan);
Analysis analyze(const Plan& plan, const Options& options);

}  // namespace v1
}  // namespace millrace
