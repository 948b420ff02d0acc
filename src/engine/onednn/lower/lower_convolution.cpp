// Conv and ConvTranspose, with what is fused into them.
#include <algorithm>
#include <optional>

#include "base/error.h"
#include "engine/onednn/lower/convolution_parts.h"
#include "engine/onednn/lower/lower.h"
#include "engine/onednn/lower/lower_amx.h"
#include "engine/onednn/lower/lower_direct.h"
#include "engine/onednn/lower/lower_grouped.h"
#include "engine/onednn/lower/lower_integers.h"
#include "engine/onednn/lower/lower_transposed.h"
#include "engine/onednn/lower/lower_winograd.h"
#include "engine/onednn/lower/post_ops.h"
#include "engine/onednn/ways.h"

namespace millrace::engine::onednn {
namespace {

using network::Shape;

/// The end padding that gives exactly the output's size, which holds the output padding already.
Dims end_pads_of_transposed(const network::Window& window, const Shape& input,
                            const Shape& output) {
  Dims pads;
  for (std::size_t d = 0; d < window.kernel.size(); ++d) {
    const std::int64_t extent = (window.kernel[d] - 1) * window.dilations[d] + 1;
    const std::int64_t whole = (input[d + 2] - 1) * window.strides[d] + extent;
    pads.push_back(whole - output[d + 2] - window.pads_begin[d]);
  }
  return pads;
}

/// For those oneDNN's search for a kernel takes seconds or minutes: 1.9 s for 1x16000, 60 s for
/// 2000x2000; it grows with the square of the width. 1x2048 takes 0.06 s.
bool is_too_large(const network::Window& window) {
  constexpr std::int64_t longest = 2048, most = 1 << 14;
  std::int64_t points = 1;
  for (const std::int64_t length : window.kernel) {
    if (length > longest) return true;
    points *= length;
  }
  return points > most;
}

std::optional<ConvolutionSpec> geometric_spec(const Builder& builder, LayerId id) {
  const network::Layer& layer = builder.layer(id);
  const Geometry g = geometry_of(layer.op);
  const Shape& input = builder.tensor(layer.inputs[0]).shape;
  const Shape& output = builder.tensor(layer.outputs[0]).shape;
  const auto negative = [](std::int64_t pad) { return pad < 0; };
  const auto& pads = g.window.pads_begin;
  if (std::any_of(pads.begin(), pads.end(), negative) || is_too_large(g.window))
    return std::nullopt;
  ConvolutionSpec spec;
  spec.transposed = g.transposed;
  spec.algorithm = builder.variant(id).algorithm;
  if (has_bias(layer)) spec.bias = plain_desc({output[1]});
  spec.strides = g.window.strides;
  spec.dilations = g.window.dilations;
  for (auto& dilation : spec.dilations) --dilation;
  spec.pads_begin = g.window.pads_begin;
  spec.pads_end =
      g.transposed ? end_pads_of_transposed(g.window, input, output) : g.window.pads_end;
  return spec;
}

std::optional<ConvolutionSpec> spec_of(const Builder& builder, LayerId id,
                                       const std::optional<Integers>& integers) {
  const network::Layer& layer = builder.layer(id);
  const Shape& weights = builder.tensor(layer.inputs[1]).shape;
  auto spec = geometric_spec(builder, id);
  if (!spec) return std::nullopt;
  const Type type = type_of(builder, id);
  const Type result = integers && integers->quantizes_result ? integers->result.type : type;
  if (integers && !integers->bias.empty())
    spec->bias = plain_desc({static_cast<std::int64_t>(integers->bias.size())});
  spec->source =
      any_desc(builder.tensor(layer.inputs[0]).shape, integers ? integers->source.type : type);
  spec->weights = any_desc(dims_of(weights_as_given(geometry_of(layer.op), weights)),
                           integers ? Type::s8 : type);
  spec->destination = any_desc(builder.tensor(layer.outputs[0]).shape, result);
  return spec;
}

Kernel kernel_of(const Builder& builder, const Group& group,
                 const std::optional<Integers>& integers) {
  auto spec = spec_of(builder, group.head, integers);
  auto post_ops =
      post_ops_of(builder, group, builder.tensor(builder.layer(group.head).outputs[0]).shape);
  if (!spec || !post_ops) return {};
  if (integers) {
    float factor = integers->source.encoding.scale;
    spec->source_zero = integers->source.encoding.zero;
    if (integers->quantizes_result) {
      Rescaling rescaling = rescale(*post_ops, integers->result.encoding, integers->residual);
      spec->rescaling = rescaling.factor;
      factor *= rescaling.factor;
      post_ops = std::move(rescaling.post_ops);
    }
    for (const float scale : integers->weights) spec->scales.push_back(factor * scale);
  }
  return convolution(builder.engine(), *spec, *post_ops);
}

Kernel kernel_of(const Builder& builder, const Group& group) {
  return kernel_of(builder, group, integers_of(builder, group, std::nullopt));
}

/// Kernel for the sums of a transposed convolution, which takes its bias in a step of its own.
KernelOfSums kernel_of_sums(const Builder& builder, LayerId id) {
  return [&builder, spec = spec_of(builder, id, std::nullopt)](const Desc& result) -> Kernel {
    if (!spec) return {};
    ConvolutionSpec sums = *spec;
    sums.bias = {};
    sums.destination = result;
    return convolution(builder.engine(), sums, {});
  };
}

Operand bias_operand(Builder& builder, const network::Layer& layer, const Kernel& kernel,
                     const std::vector<float>& corrected) {
  if (!corrected.empty()) {
    std::vector<float> numbers = corrected;
    const std::vector<float>& factors = kernel.bias.factors;
    for (std::size_t i = 0; i < numbers.size(); ++i)
      numbers[i] *= kernel.bias.leading == 0 ? factors[0] : factors[i];
    return {DNNL_ARG_BIAS, builder.program().keep(numbers)};
  }
  const TensorId bias = layer.inputs[2];
  if (kernel.bias.change_nothing()) return {DNNL_ARG_BIAS, builder.plain(bias)};
  const Desc desc = plain_desc(builder.tensor(bias).shape);
  return {DNNL_ARG_BIAS, builder.in_layout(bias, Packing{desc, desc, kernel.bias})};
}

Operand weights_operand(Builder& builder, const network::Layer& layer, const Packing& like,
                        const std::optional<Integers>& integers) {
  const Geometry g = geometry_of(layer.op);
  Packing packing = like;
  packing.from = weights_as_given(g, builder.tensor(layer.inputs[1]).shape);
  if (integers) {
    packing.scales = {{}, g.groups > 1 ? 2 : 1};
    for (const float scale : integers->weights) packing.scales.factors.push_back(1 / scale);
  }
  return {DNNL_ARG_WEIGHTS, builder.in_layout(layer.inputs[1], packing)};
}

bool is_by_matrices(const Kernel& kernel) {
  return kernel.family() == KernelFamily::generated_product ||
         kernel.family() == KernelFamily::product;
}

/// Without AVX-512, oneDNN's products of matrices compute what is fused into them number by number:
/// 68 to 272 channels of 28x28 in 4 groups with Relu 1.47 ms, with Relu as a step of its own 0.19.
bool has_slow_post_ops(const Builder& builder, LayerId head, const Kernel& kernel) {
  return kernel.family() == KernelFamily::generated_product && vector_lanes() < 16 &&
         type_of(builder, head) == Type::f32 && !is_int8(builder, head);
}

/// By loops of ours, where none of oneDNN's kernels for convolutions suits.
bool runs_in_small_groups(const Builder& builder, LayerId id) {
  if (!is_in_small_groups(builder, id)) return false;
  const Kernel alone = kernel_of(builder, {id, {}});
  return !alone || alone.is_slow() || is_by_matrices(alone);
}

/// By loops of ours, where oneDNN has none for the layer but its reference.
bool accepts_instead(const Builder& builder, const Group& group) {
  if (!builder.variant(group.head).algorithm.empty() || !accepts_direct(builder, group))
    return false;
  const Kernel alone = kernel_of(builder, {group.head, {}});
  return !alone || alone.is_slow();
}

}  // namespace

bool accepts_convolution(Builder& builder, const Group& group) {
  const LayerId head = group.head;
  if (is_on_tiles(builder, head) || is_in_integers(builder, head) || is_winograd(builder, head))
    return own_convolution_of(builder, group).has_value();
  if (is_direct(builder, head)) return accepts_direct(builder, group);
  if (is_in_quads(builder, head)) return accepts_quads(builder, group);
  if (geometry_of(builder.layer(head).op).transposed)
    return accepts_transposed(builder, group, kernel_of_sums(builder, head));
  if (runs_in_small_groups(builder, head)) return accepts_small_groups(builder, group);
  const auto pass = function_pass_of(builder, group);
  const Group& in_kernel = pass ? pass->before : group;
  const Kernel fused = kernel_of(builder, in_kernel);
  if (!fused || fused.is_slow()) return accepts_instead(builder, group);
  // oneDNN puts operands where channels fill a block too, and x / 0 there spoils the next layer.
  const auto is_binary = [](const Fused& each) { return each.kind == Fused::Kind::binary; };
  if (std::any_of(group.tail.begin(), group.tail.end(), is_binary) &&
      is_padded(fused.operand(DNNL_ARG_DST)))
    return false;
  if (!is_by_matrices(fused)) return true;
  if (!in_kernel.tail.empty() && has_slow_post_ops(builder, head, fused)) return false;
  return kernel_of(builder, {head, {}}).name == fused.name;
}

std::vector<std::string> convolution_algorithms(const Builder& builder, LayerId layer) {
  std::optional<Integers> integers;
  if (is_int8(builder, layer)) integers = Integers{{Type::u8, {}}, {}, {Type::u8, {}}, true, {}};
  auto spec = spec_of(builder, layer, integers);
  std::vector<std::string> names;
  const bool has_kernels = !integers || has_exact_bytes();
  if (spec && has_kernels) names = convolution_algorithms(builder.engine(), *spec);
  // The first is what runs if the plan names none.
  if (runs_in_small_groups(builder, layer)) names.insert(names.begin(), small_groups);
  // With AVX-512 oneDNN has a faster one for all layers for which it has any.
  if ((names.empty() || !has_wide_vectors()) && can_be_direct(builder, layer))
    names.emplace_back(direct);
  if (spec && !has_integer_products() && can_be_in_quads(builder, layer))
    names.emplace_back(direct_in_bytes);
  if (names.empty()) return {};
  if (can_be_on_tiles(builder, layer))
    names.emplace_back(type_of(builder, layer) == Type::f32 && !integers ? split_on_tiles
                                                                         : on_tiles);
  if (can_be_in_integers(builder, layer)) names.emplace_back(integers ? in_quads : in_pairs);
  if (can_be_winograd(builder, layer)) {
    names.emplace_back(winograd_2x2);
    names.emplace_back(winograd_4x4);
  }
  return names;
}

bool lower_convolution(Builder& builder, const Group& group) {
  if (is_on_tiles(builder, group.head)) return lower_on_tiles(builder, group);
  if (is_in_integers(builder, group.head)) return lower_in_integers(builder, group);
  if (is_winograd(builder, group.head)) return lower_winograd(builder, group);
  if (is_direct(builder, group.head)) return lower_direct(builder, group);
  if (is_in_quads(builder, group.head)) return lower_quads(builder, group);
  const network::Layer& layer = builder.layer(group.head);
  if (geometry_of(layer.op).transposed)
    return lower_transposed(builder, group, kernel_of_sums(builder, group.head));
  if (runs_in_small_groups(builder, group.head)) {
    lower_small_groups(builder, group);
    return true;
  }
  const auto integers = integers_of(builder, group, quantization_now(builder, group.head));
  const auto pass = function_pass_of(builder, group);
  const Group& in_kernel = pass ? pass->before : group;
  const Kernel kernel = kernel_of(builder, in_kernel, integers);
  const std::string asked = builder.variant(group.head).algorithm;
  if (!kernel && !asked.empty())
    throw InputError(layer.name, "oneDNN has no algorithm '" + asked +
                                     "' for it here; make a new plan on this machine");
  if (asked.empty() && (!kernel || kernel.is_slow()) && lower_direct(builder, group)) return true;
  if (!kernel || (kernel.is_slow() && group.tail.empty())) return false;
  Packing weights;
  weights.to = kernel.operand(DNNL_ARG_WEIGHTS);
  const Encoding source = integers ? integers->source.encoding : Encoding();
  std::vector<Operand> reads{
      {DNNL_ARG_SRC, builder.in_layout(layer.inputs[0], kernel.operand(DNNL_ARG_SRC), source)},
      weights_operand(builder, layer, weights, integers)};
  const std::vector<float> corrected = integers ? integers->bias : std::vector<float>();
  if (has_bias(layer) || !corrected.empty())
    reads.push_back(bias_operand(builder, layer, kernel, corrected));
  const Desc layout = kernel.operand(DNNL_ARG_DST);
  const Encoding encoding =
      integers && integers->quantizes_result ? integers->result.encoding : Encoding();
  const Value result = pass ? builder.program().make_temporary(layout)
                            : builder.make(result_of(builder.network(), group), layout, encoding);
  const auto more = post_operands(builder, in_kernel, result);
  reads.insert(reads.end(), more.begin(), more.end());
  builder.program().run(kernel, reads, {{DNNL_ARG_DST, result}});
  if (pass) run(builder, group, *pass, result);
  return true;
}

}  // namespace millrace::engine::onednn
