#pragma once
// Times from a board file instead of measurements: docs/methods/costs.md.
#include <vector>

#include "base/verdict.h"
#include "board/board.h"
#include "profile/layer_kind.h"
#include "profile/profile.h"

namespace millrace::profile {

/// The shares of the peaks that are taken for kinds of layers of which a device says nothing.
inline constexpr double usual_arithmetic = 0.5, usual_memory = 0.7;

/// One processor in one precision. Pure: it knows what the board file says, and nothing else.
class CostModel {
 public:
  /// InputError if the board does not say how fast the processor's units are.
  CostModel(const board::Board& board, const board::Processor& processor,
            board::Precision precision);

  /// No, with the reason, if the processor has no unit for the precision or its SDK does not run
  /// the operator. A Reshape runs everywhere: it does nothing.
  Verdict supports(const network::Operator& op) const;

  /// launch + max(operations / (peak * arithmetic share), bytes / (bandwidth * memory share)) of a
  /// kernel that it supports. The launch counts once per subnet, and not here, where that is the
  /// granularity. InputError if it is longer than twelve days.
  Time time(const Load& load) const;

  BorderCosts borders() const;
  double bytes_per_element() const;

 private:
  const board::Device& device_;
  board::Precision precision_;
  double operations_ = 0, bytes_ = 0;  // peaks, per second
};

/// The network on all processors of the board in each of the precisions, marked as modelled. Layers
/// that a processor cannot run carry the reason. InputError if no processor can run some layer.
Profile modelled(const network::Network& network, const board::Board& board,
                 const std::vector<board::Precision>& precisions);

/// Modelled profiles name this as their engine.
inline constexpr const char* modelled_engine = "model";

}  // namespace millrace::profile
