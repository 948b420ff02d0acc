#pragma once
// Inside the profile room: runs of the whole network, or of a part, with one variant per layer.
#include <span>
#include <vector>

#include "profile/subject.h"
#include "profile/trial.h"

namespace millrace::profile {

/// What such runs gave. Of each layer: together, fused_into, kernel and variant.
struct Pass {
  std::vector<LayerTimes> layers;
  Statistics whole;
};

Variants variants_of(const std::vector<LayerTimes>& layers);

/// The pass with all medians multiplied: as on a machine of another pace.
Pass at_pace(Pass pass, double factor);

double ratio(Time a, Time b);

/// The whole network prepared, or a part of it, and the times of its runs so far.
class PassTrial {
 public:
  PassTrial(const Subject& subject, Variants variants);
  /// `part`: of the network, prepared in these variants; its other layers have no times.
  PassTrial(const Subject& subject, Variants variants, std::unique_ptr<engine::Subnet> part);
  /// Adds runs until the options say that it is enough.
  void run(const MeasureOptions& options);
  const Variants& variants() const { return variants_; }
  /// Whether it has run since it was made or started again.
  bool is_warm() const { return !totals_.empty(); }
  /// Drops the times so far.
  void start_again();
  Pass result() const;

  /// Drops the times of both, then runs them interleaved until the options say that each has
  /// enough: what slows a shared machine down for a while slows both.
  static void run_interleaved(PassTrial& a, PassTrial& b, const MeasureOptions& options);

 private:
  Time once(bool counted);

  Variants variants_;
  Trial trial_;
  std::vector<LayerTimes> layers_;
  std::vector<std::vector<Time>> samples_;  // by layer
  std::vector<Time> totals_;
};

/// Layers that some pass fuses, directly or through others: only their sum can be compared between
/// passes.
class Units {
 public:
  explicit Units(std::span<const Pass> passes);
  /// The median time, in this pass, of the layer with all that are in its unit.
  Time time(const Pass& pass, LayerId layer) const;

 private:
  std::vector<std::size_t> units_;  // by layer: the unit's number
};

}  // namespace millrace::profile
