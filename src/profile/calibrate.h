#pragma once
// Runs a network in float32 on given frames and finds between what values its tensors lie.
#include <functional>
#include <map>
#include <string>

#include "network/calibration_file.h"
#include "network/simplify/quantized/equalise.h"
#include "profile/frame_run.h"

namespace millrace::profile {

enum class RangeMethod { minmax, percentile, entropy, squares };
/// "minmax", "percentile", "entropy", "mse".
std::string to_text(RangeMethod method);

struct CalibrateOptions {
  RangeMethod method = RangeMethod::squares;
  double percentile = 99.99;  // see percentile_range
  bool means = false;         // also those of network::Calibration
  Bytes observed{256 << 20};  // memory for tensors looked at together; more take more runs
  /// The share done in [0, 1]. May be empty; may throw to stop.
  std::function<void(double share)> progress = {};
};

struct CalibrationResult {
  network::CalibrationTable table;
  std::map<std::string, network::Range> seen;  // the smallest and the largest value, widened to 0
};

/// The ranges of all tensors that a table holds (network::calibrated_tensors). InputError if there
/// are no frames, a frame does not fit the network or a tensor is infinite or not a number in one;
/// EngineError.
CalibrationResult calibrate(const Execution& execution, const Samples& samples,
                            const CalibrateOptions& options = {});

/// Channel sizes of what layers multiply by weights: below a size lie all but a thousandth of a
/// channel's numbers, without sign, in the frame where they are largest. `options`: memory and
/// progress. Errors as above.
network::ChannelSizes channel_sizes(const Execution& execution, const Samples& samples,
                                    const CalibrateOptions& options = {});

}  // namespace millrace::profile
