#pragma once
// A plan's outputs beside those of a plain sequential run of the same engine.
#include <map>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "plan/plan.h"
#include "runtime/sequential.h"

namespace millrace::runtime {

/// By frame, in the order of network.inputs or network.outputs.
using Frames = std::vector<std::vector<network::Array>>;

struct Comparison {
  std::int64_t frames = 0;
  bool bit_equal = true;
  double error = 0;  // largest absolute difference over largest absolute reference value
};

/// Outputs of equally many frames. A difference in type, shape or NaN-ness is an infinite error.
Comparison compare(const Frames& reference, const Frames& result);

/// How far from float64, as Comparison::error.
struct FromFloat64 {
  double result = 0;
  double float32 = 0;  // what float32 may be off by rounding alone

  /// Whether rounding explains what is beyond the tolerance.
  bool agrees(double tolerance) const;
};

/// The network's outputs in float64 by the plain loops, and how far the `reference` in float32 is
/// from them, and is moved if each of its results is rounded in another way.
class Float64Reference {
 public:
  Float64Reference(const network::Network& network, const Frames& inputs, const Frames& reference);
  FromFloat64 beside(const Frames& results) const;

 private:
  Frames exact_;
  double float32_ = 0;
};

/// All frames through a pipeline of their own.
Frames run_pipeline(const plan::Plan& plan, const network::Network& network,
                    const std::map<std::string, engine::Engine*>& engines, const Frames& inputs);

/// All frames through the whole network as one subnet.
Frames run_sequentially(Sequential& sequential, const Frames& inputs);

}  // namespace millrace::runtime
