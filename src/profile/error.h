#pragma once
// Inside the profile room: how exact a variant is.
#include <optional>
#include <vector>

#include "profile/measurement_target.h"

namespace millrace::profile {

/// One layer on random inputs in [-1, 1), or in the calibrated range, with its own weights, against
/// sums in float64: the largest absolute error over the largest absolute reference value, at up to
/// 512 outputs drawn by chance. Only for float32 convolutions, and products by
/// matrices that are no stacks.
class ErrorTest {
 public:
  ErrorTest(const MeasurementTarget& target, LayerId layer);
  /// Nothing: there is no reference for this layer, or none that holds for the variant.
  std::optional<double> of(const board::Variant& variant) const;

 private:
  const MeasurementTarget& target_;
  LayerId layer_;
  std::vector<network::Buffer> inputs_;  // in the order of the layer's border
  std::vector<std::size_t> places_;      // of the outputs that are compared
  std::vector<double> reference_;        // at these places; none: there is none
};

}  // namespace millrace::profile
