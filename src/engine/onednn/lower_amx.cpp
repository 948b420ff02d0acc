#include "engine/onednn/lower_amx.h"

#include <algorithm>

#include "base/error.h"
#include "engine/onednn/post_ops.h"
#include "engine/onednn/ways.h"

namespace millrace::engine::onednn {
namespace {

using network::Shape;

std::size_t unsigned_of(std::int64_t number) { return static_cast<std::size_t>(number); }

WindowAxis axis_of(const network::Window& window, const Shape& in, const Shape& out,
                   std::size_t dimension) {
  return {unsigned_of(in[dimension + 2]),           unsigned_of(out[dimension + 2]),
          unsigned_of(window.kernel[dimension]),    unsigned_of(window.strides[dimension]),
          unsigned_of(window.dilations[dimension]), unsigned_of(window.pads_begin[dimension])};
}

AmxConvolution convolution_of(const Builder& builder, LayerId id) {
  const network::Layer& layer = builder.layer(id);
  const network::Window& window = std::get<network::Conv>(layer.op).window;
  const Shape& in = builder.tensor(layer.inputs[0]).shape;
  const Shape& out = builder.tensor(layer.outputs[0]).shape;
  AmxConvolution result;
  result.images = unsigned_of(in[0]);
  result.channels = unsigned_of(in[1]);
  result.outputs = unsigned_of(out[1]);
  result.height = axis_of(window, in, out, 0);
  result.width = axis_of(window, in, out, 1);
  result.split = builder.type(id) == Type::f32;
  result.writes_bf16 = !result.split;
  return result;
}

/// What is done to the sums; nothing if it is more than a residual and then one activation.
std::optional<AmxConvolution> with_tail(const Builder& builder, const Group& group) {
  AmxConvolution result = convolution_of(builder, group.head);
  bool activated = false;
  for (const Fused& fused : group.tail) {
    if (activated) return std::nullopt;
    if (fused.kind == Fused::Kind::residual && !result.adds) {
      result.adds = true;
      continue;
    }
    if (fused.kind != Fused::Kind::unary) return std::nullopt;
    const auto& unary = std::get<network::Unary>(builder.layer(fused.layers[0]).op);
    if (unary.kind == network::UnaryKind::relu)
      result.activation.low = 0;
    else if (unary.kind == network::UnaryKind::leaky_relu)
      result.activation.slope = static_cast<float>(unary.alpha);
    else if (unary.kind == network::UnaryKind::clip && unary.alpha <= unary.beta)
      result.activation = {1, static_cast<float>(unary.alpha), static_cast<float>(unary.beta)};
    else
      return std::nullopt;
    activated = true;
  }
  return result;
}

bool is_constant(const Builder& builder, const network::Layer& layer, std::size_t input) {
  const bool given = layer.inputs.size() > input && layer.inputs[input].valid();
  return !given || builder.tensor(layer.inputs[input]).constant.has_value();
}

}  // namespace

bool is_on_tiles(const Builder& builder, LayerId id) {
  const std::string algorithm = builder.variant(id).algorithm;
  return algorithm == on_tiles || algorithm == split_on_tiles;
}

bool can_be_on_tiles(const Builder& builder, LayerId id) {
  const network::Layer& layer = builder.layer(id);
  const auto* conv = std::get_if<network::Conv>(&layer.op);
  if (conv == nullptr || conv->groups != 1 || builder.is_int8(id) || !has_amx()) return false;
  const auto& pads = conv->window.pads_begin;
  const bool crops = std::any_of(pads.begin(), pads.end(), [](auto pad) { return pad < 0; });
  return builder.tensor(layer.inputs[0]).shape.size() == 4 && !crops &&
         is_constant(builder, layer, 1) && is_constant(builder, layer, 2);
}

bool accepts_on_tiles(const Builder& builder, const Group& group) {
  return with_tail(builder, group).has_value();
}

bool lower_on_tiles(Builder& builder, const Group& group) {
  const network::Layer& layer = builder.layer(group.head);
  if (!can_be_on_tiles(builder, group.head))
    throw InputError(layer.name, "the tiles of its plan are not to be had here; measure again");
  auto convolution = with_tail(builder, group);
  if (!convolution) return false;
  const TensorId input = layer.inputs[0];
  convolution->reads_bf16 = !convolution->split && type_of(builder.value(input).desc) == Type::bf16;
  const Type type = convolution->reads_bf16 ? Type::bf16 : Type::f32;
  OwnWork work;
  work.from = builder.in_layout(input, channels_last_desc(builder.tensor(input).shape, type));
  Packing packing;
  packing.from = plain_desc(builder.tensor(layer.inputs[1]).shape);
  const auto count = static_cast<std::int64_t>(packed_count(*convolution));
  packing.to = row_major_desc({count}, Type::bf16);
  packing.tiles = *convolution;
  work.constants = {builder.in_layout(layer.inputs[1], packing)};
  const auto working = static_cast<std::int64_t>(working_bytes(*convolution));
  work.working = builder.make_temporary(row_major_desc({working}, Type::u8));
  const bool biased = layer.inputs.size() > 2 && layer.inputs[2].valid();
  if (biased) work.constants.push_back(builder.plain(layer.inputs[2]));
  const TensorId result = result_of(builder.network(), group);
  work.to = builder.make(
      result, channels_last_desc(builder.tensor(result).shape, builder.type(group.head)));
  post_operands(builder, group, work.to);
  work.adds = convolution->adds;
  AmxOperands operands;
  operands.weights =
      reinterpret_cast<const std::uint16_t*>(builder.constant_data(work.constants.front()));
  if (biased)
    operands.bias = reinterpret_cast<const float*>(builder.constant_data(work.constants.back()));
  work.run = [operands, convolution = *convolution](const OwnPlaces& places) mutable {
    operands.source = places.from;
    operands.working = places.working;
    operands.result = places.to;
    convolve(convolution, operands);
  };
  builder.run(work, std::string(convolution->split ? split_on_tiles : on_tiles));
  return true;
}

}  // namespace millrace::engine::onednn
