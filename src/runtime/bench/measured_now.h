#pragma once
// A plan as it runs, beside what the proof and the simulator promise with the times that its phases
// have meanwhile, without waiting for each other. Both are measured in turns: what slows the
// machine down for a while meets both.
#include <optional>
#include <string>
#include <vector>

#include "runtime/load.h"
#include "runtime/stage_times.h"
#include "simulate/simulate.h"

namespace millrace::runtime {

class MeasuredNow {
 public:
  /// `in_flight`: of all loads to come. Keeps references to plan and network.
  MeasuredNow(const plan::Plan& plan, const network::Network& network, std::int64_t in_flight);

  /// A turn: what the pipeline did, what its stages took of a frame in it, and what they took right
  /// behind by themselves.
  void add(const Load& load, const std::vector<Time>& busy,
           std::vector<StageTimes> stages);
  std::size_t turns() const { return turns_.size(); }

  /// Between two frames, the median of the turns. Precondition, here and below: there was a turn.
  Time period() const;
  /// The shortest that the plan's graph has by the quickest of each phase's firings in a turn; the
  /// median of the turns. Nothing where it has none, or no phase takes time.
  std::optional<Time> bound() const;
  /// How much of the bound was reached, each turn by its own: below this lies such a share of the
  /// turns. Precondition: bound().
  double reached(double share) const;
  /// Time of a phase for a frame: the median of the turns' means.
  Time phase(std::size_t stage, std::size_t number) const;
  /// A stage's time in the pipeline over that of its phases without waiting.
  double busy_to_phases(std::size_t stage) const;

  /// All turns together, and as many frames simulated, each firing with what one took without
  /// waiting.
  struct Comparison {
    simulate::ApplicationResult measured, simulated;
    /// The 99th percentile of their latencies: simulated by measured.
    double ratio_of_p99() const;
  };
  Comparison compare() const;

 private:
  struct Turn {
    Time period{};
    std::optional<Time> bound;
    plan::PhaseTimes phases;  // of a frame
    std::vector<Time> busy;
  };
  template <class Value>
  auto quantile(double share, Value value) const;

  const plan::Plan* plan_;
  const network::Network* network_;
  std::int64_t in_flight_;
  std::vector<Turn> turns_;
  simulate::ApplicationResult measured_;
  simulate::Recording firings_;
};

}  // namespace millrace::runtime
