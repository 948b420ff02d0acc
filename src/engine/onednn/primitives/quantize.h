#pragma once
// Numbers in 8 bits: what a stored integer stands for.
#include <vector>

#include "engine/onednn/primitives/primitives.h"
#include "network/calibration.h"
#include "network/tensor.h"

namespace millrace::engine::onednn {

struct Quantization {
  Type type = Type::s8;  // or u8
  Encoding encoding = {};
};

bool is_quantized(const Desc& desc);

/// Unsigned where nothing is negative, else symmetric. Never a scale of zero.
Quantization symmetric_quantization(const network::Range& range);
/// All 255 steps between the two ends, unsigned, with an integer that stands for 0.
Quantization whole_quantization(const network::Range& range);

/// By output channel: what the integer 1 stands for if the channel's largest weight is 127. `given`
/// describes the weights' memory; its first `leading` dimensions number the channels.
std::vector<float> channel_scales(const network::Array& weights, const Desc& given, int leading);

/// How an int8 kernel gets from its sums of integers to its result.
struct Rescaling {
  float factor = 1;  // of the sums, beside the scales of source and weights
  PostOps post_ops;
};
/// Post-ops that are meant for real numbers, for a kernel whose result is stored like this and
/// whose residual is quantised like that.
Rescaling rescale(PostOps post_ops, const Encoding& result, const Quantization& residual);

}  // namespace millrace::engine::onednn
