#pragma once
// Inside the profile room: runs of the whole network, or of a part, with one variant per layer.
#include <span>
#include <vector>

#include "profile/measurement_target.h"
#include "profile/trial.h"

namespace millrace::profile {

/// What such runs gave. Of each layer: together, fused_into, kernel and variant.
struct NetworkRun {
  std::vector<LayerTimes> layers;
  Statistics whole;
};

Variants variants_of(const std::vector<LayerTimes>& layers);

/// The run with all medians multiplied: as on a machine of another pace.
NetworkRun at_pace(NetworkRun run, double factor);

double ratio(Time a, Time b);

/// The engine's own choice with one algorithm wherever it is offered, or with several that are
/// never offered for the same layer.
std::vector<Variants> trials_of(std::span<const Variants> ways, const Variants& own);

/// The whole network prepared, or a part of it, and the times of its runs so far.
class NetworkTrial {
 public:
  NetworkTrial(const MeasurementTarget& target, Variants variants);
  /// `part`: of the network, prepared in these variants; its other layers have no times.
  NetworkTrial(const MeasurementTarget& target, Variants variants,
               std::unique_ptr<engine::Subnet> part);
  /// Adds runs until the options say that it is enough.
  void run(const MeasureOptions& options);
  const Variants& variants() const { return variants_; }
  /// Whether it has run since it was made or started again.
  bool is_warm() const { return !totals_.empty(); }
  /// Drops the times so far.
  void start_again();
  NetworkRun result() const;

  /// Drops the times of both, then runs them interleaved until the options say that each has
  /// enough: what slows a shared machine down for a while slows both.
  static void run_interleaved(NetworkTrial& a, NetworkTrial& b, const MeasureOptions& options);

 private:
  Time once(bool counted);

  Variants variants_;
  Trial trial_;
  std::vector<LayerTimes> layers_;
  std::vector<std::vector<Time>> samples_;  // by layer
  std::vector<Time> totals_;
};

/// Layers that some run fuses, directly or through others: only their sum can be compared between
/// runs.
class FusionGroups {
 public:
  explicit FusionGroups(std::span<const NetworkRun> runs);
  /// The median time, in this run, of the layer with all that are in its group.
  Time time(const NetworkRun& run, LayerId layer) const;

 private:
  std::vector<std::size_t> groups_;  // by layer: the group's number
};

}  // namespace millrace::profile
