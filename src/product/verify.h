#pragma once
// A plan's outputs against a plain sequential run.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "application/frames/frames.h"
#include "product/loaded.h"
#include "runtime/compare.h"

namespace millrace::product {

struct VerifyRequest {
  RunnableOptions runnable;
  application::FrameOptions frames = {};  // nothing: a few random ones
  int mappings = 2;          // random, non-contiguous ones that are verified too
  std::string against = "reference";      // the engine of the sequential run, in float32
  /// None: what the plan's lowest precision allows, and what float32 loses by rounding.
  std::optional<double> tolerance = {};
};

/// One plan that was compared.
struct VerifiedPlan {
  std::string name;
  std::size_t stages = 0, replicas = 0, phases = 0;  // replicas of all stages
  std::int64_t frames = 0;
  double error = 0;  // the largest absolute difference over the largest absolute value
  bool bit_equal = false, within_tolerance = false;
  /// Only if not within the tolerance: how far the plan and the reference are from float64.
  std::optional<runtime::FromFloat64> from_float64 = {};
  bool within_rounding = false;  // then: whether rounding explains the difference
  /// Neither of them, but every part of it is on the numbers that the plan itself gives it, and the
  /// parts one after the other give its results: the network makes small differences large, as a
  /// ranking of nearly equal scores does.
  bool part_by_part = false;
  std::vector<std::string> amplifiers = {};  // the layers that do so
};

struct VerifyResult {
  std::string network;
  std::vector<VerifiedPlan> plans;  // the plan, then the random mappings
  std::string why;  // where the first that differs does so first, a sentence; empty: none differs
  std::string nan_layer = {};  // makes NaN of finite inputs; empty: none does
  bool equal() const { return why.empty(); }
};

VerifyResult verify(const VerifyRequest& request);

}  // namespace millrace::product
