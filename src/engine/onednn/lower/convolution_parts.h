#pragma once
// What every way to run a convolution has to know of it.
#include <memory>
#include <optional>
#include <vector>

#include "engine/fusion.h"
#include "engine/onednn/builder.h"
#include "engine/onednn/primitives/quantize.h"
#include "engine/onednn/program.h"
#include "kernels/own_convolution.h"

namespace millrace::engine::onednn {

/// Conv and ConvTranspose alike.
struct Geometry {
  network::Window window;
  std::int64_t groups = 1;
  bool transposed = false;
};
Geometry geometry_of(const network::Operator& op);

bool has_bias(const network::Layer& layer);

/// The weights' memory as oneDNN counts it: (groups,) outputs, inputs, kernel.
Desc weights_as_given(const Geometry& geometry, const network::Shape& shape);

/// Whether the weights and the bias, if any, are given.
bool has_constants(const Builder& builder, const network::Layer& layer);
/// Whether our own convolutions can be asked at all: images without groups, given weights, nothing
/// cropped.
bool can_be_own(const Builder& builder, LayerId id);
/// Along the height (0) or the width (1) of such a layer.
kernels::WindowAxis axis_of(const Builder& builder, LayerId id, std::size_t dimension);
/// ReLU, leaky ReLU and clip in that form; nothing for other functions.
std::optional<kernels::Activation> piecewise_linear(const network::Unary& function);
/// The activation in a group's tail; nothing if the tail is more than one such function.
std::optional<kernels::Activation> activation_of(const Builder& builder, const Group& group);
/// With the group's tail: a residual and one activation, at most; nothing if it is more.
std::optional<kernels::OwnConvolution> with_tail(const Builder& builder, const Group& group,
                                                 kernels::OwnConvolution convolution);
/// Nothing if it cannot be one, or if the group's tail is more than a residual and then one
/// activation.
std::optional<kernels::OwnConvolution> own_convolution_of(const Builder& builder,
                                                          const Group& group);

/// How an int8 convolution counts.
struct Integers {
  Quantization source, residual, result;
  bool quantizes_result = false;
  std::vector<float> weights;  // scales, by output channel
  std::vector<float> bias = {};  // corrected for the rounding of the weights; empty: as given
};

/// Numbers by output that our own int8 convolution needs beside its weights, in units of its
/// result: what its sums stand for, and the bias.
struct Scaled {
  std::vector<float> scales, bias;
};

/// What our own convolutions have in common when they are lowered.
struct OwnParts {
  OwnWork work;                 // without weights, working memory and loops
  const float* bias = nullptr;  // by output, in units of the result; null: none, or computed
  std::optional<Integers> integers;
  std::shared_ptr<const Scaled> scaled = {};  // of integers; holds the bias
};
/// Sets what numbers the convolution reads and writes, and in what units. `takes_floats`: also
/// where it computes in bfloat16, if its source does not lie there in bfloat16 already.
OwnParts own_parts(Builder& builder, const Group& group, kernels::OwnConvolution& convolution,
                   bool takes_floats);

/// The weights in the form that such a convolution of ours wants, scaled by nothing or to integers.
template <class Convolution>
Value packed_weights(Builder& builder, TensorId weights, const Convolution& convolution,
                     const std::optional<Integers>& integers = {}) {
  Packing packing;
  packing.from = plain_desc(builder.tensor(weights).shape);
  packing.to = row_major_desc({static_cast<std::int64_t>(packed_size(convolution))}, Type::u8);
  packing.own = convolution;
  if (integers) {
    packing.scales = {{}, 1};
    for (const float scale : integers->weights) packing.scales.factors.push_back(1 / scale);
  }
  return builder.in_layout(weights, packing);
}

/// Rows, each multiplied with a constant matrix, in float32, float16 or bfloat16.
struct ConstantProduct {
  TensorId source, weights, bias;  // bias: a constant by output; may be invalid
  std::size_t rows = 1;
  Desc view;  // how the weights' memory is read: outputs, channels
};
/// Rows are an image's, of one pixel each, with what is fused into the product; nothing if that is
/// too much.
std::optional<kernels::OwnConvolution> own_convolution_of(const Builder& builder,
                                                          const Group& group,
                                                          const ConstantProduct& product);
/// The weights are the first of its constants; `own`: the convolution that they are packed for.
OwnParts product_parts(Builder& builder, const Group& group, const ConstantProduct& product,
                       const Packing::Own& own);

/// The residual in a group's tail, or null.
const Fused* residual_of(const Group& group);

/// Nothing for floating point. `source`: how the input lies already, if that is known.
std::optional<Integers> integers_of(const Builder& builder, const Group& group,
                                    const std::optional<Quantization>& source);

/// An input that lies in 8 bits already is read as it is, if the layer's kernel can.
std::optional<Quantization> quantization_now(Builder& builder, LayerId id);

}  // namespace millrace::engine::onednn
