#pragma once
// One precision per layer: as much time saved as a budget for the loss of accuracy allows.
#include <functional>
#include <vector>

#include "base/ids.h"
#include "board/variant.h"
#include "profile/loss.h"

namespace millrace::explore {

/// A layer in a lower precision.
struct Lowering {
  LayerId layer;
  board::Precision precision = board::Precision::bf16;
  double saved_ns = 0;  // per frame, against the layer's base precision; > 0
  bool operator==(const Lowering&) const = default;
};

struct PrecisionProblem {
  std::vector<board::Precision> base;  // by LayerId: the most exact one that may be used
  std::vector<Lowering> lowerings;     // any number of each layer, each precision once
};

/// What a layer gains and costs when only it is lowered.
struct LoweringCost {
  Lowering lowering;
  profile::Loss loss;
};

struct PrecisionChoice {
  std::vector<board::Precision> precisions;  // by LayerId
  profile::Loss loss;                        // of all of them together, as measured
  bool within_budget = false;                // if not, not even the base is
  double saved_ns = 0;
  std::vector<LoweringCost> costs;  // in the order of the problem's lowerings
  int measurements = 0;
};

/// The loss with these precisions, by LayerId. What it throws is passed on.
using MeasureLoss = std::function<profile::Loss(const std::vector<board::Precision>&)>;

/// Measures each lowering alone, then begins with the fastest precision everywhere and gives time
/// back, first where a nanosecond costs most accuracy, until at most the share `budget` of the
/// frames changes its answer. How far is found by bisection, so some log2(lowerings) measurements
/// follow; it takes for granted that the loss shrinks on the way, but what is returned was
/// measured.
PrecisionChoice choose_precisions(const PrecisionProblem& problem, double budget,
                                  const MeasureLoss& measure);

}  // namespace millrace::explore
