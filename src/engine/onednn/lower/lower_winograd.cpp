#include "engine/onednn/lower/lower_winograd.h"

#include "base/error.h"
#include "engine/onednn/lower/convolution_parts.h"
#include "engine/onednn/lower/post_ops.h"
#include "engine/onednn/ways.h"
#include "kernels/half/half_winograd.h"
#include "kernels/winograd/winograd.h"

namespace millrace::engine::onednn {
namespace {

std::optional<kernels::WinogradConvolution> winograd_of(const Builder& builder,
                                                        const Group& group) {
  const auto own = own_convolution_of(builder, group);
  if (!own) return std::nullopt;
  const std::size_t tile = builder.variant(group.head).algorithm == winograd_2x2 ? 2 : 4;
  return kernels::WinogradConvolution{*own, tile, vector_lanes()};
}

/// In float16, on 64-bit ARM.
bool is_in_halves_of_arm(const Builder& builder, LayerId id) {
  return !is_int8(builder, id) && type_of(builder, id) == Type::f16 && kernels::has_half_products();
}

bool lower_halves(Builder& builder, const Group& group,
                  const kernels::WinogradConvolution& winograd) {
  kernels::HalfWinograd convolution{winograd, winograd.tile};
  OwnParts parts = own_parts(builder, group, convolution, false);
  const kernels::HalfTiles tiles(convolution);
  OwnWork& work = parts.work;
  const TensorId weights = builder.layer(group.head).inputs[1];
  work.constants.push_back(packed_weights(builder, weights, convolution));
  work.working = builder.program().make_temporary(
      row_major_desc({static_cast<std::int64_t>(tiles.working)}, Type::u8));
  kernels::HalfWinogradOperands operands;
  operands.weights = builder.program().constant_data(work.constants.back());
  operands.bias = parts.bias;
  work.run = [operands, convolution, tiles](const OwnPlaces& places) mutable {
    operands.source = reinterpret_cast<const kernels::Half*>(places.from);
    operands.working = places.working;
    operands.result = reinterpret_cast<kernels::Half*>(places.to);
    convolve(convolution, tiles, operands);
  };
  post_operands(builder, group, work.to);
  builder.program().run(work, builder.variant(group.head).algorithm);
  return true;
}

}  // namespace

bool is_winograd(const Builder& builder, LayerId id) {
  const std::string algorithm = builder.variant(id).algorithm;
  return algorithm == winograd_2x2 || algorithm == winograd_4x4;
}

bool can_be_winograd(const Builder& builder, LayerId id) {
  const bool is_half = !is_int8(builder, id) && type_of(builder, id) != Type::f32;
  const bool has_integers = is_int8(builder, id) || is_half;
  if (has_integers && !is_in_halves_of_arm(builder, id) &&
      !(kernels::has_integer_loops() && has_integer_products()))
    return false;
  if (is_half && !has_half(type_of(builder, id))) return false;
  if (!can_be_own(builder, id)) return false;
  const auto fits = [](const kernels::WindowAxis& axis) {
    return axis.window == 3 && axis.stride == 1 && axis.dilation == 1;
  };
  constexpr std::int64_t most_channels = 65'536;  // of sums of bytes
  if (is_int8(builder, id) && builder.tensor(builder.layer(id).inputs[0]).shape[1] > most_channels)
    return false;
  return fits(axis_of(builder, id, 0)) && fits(axis_of(builder, id, 1));
}

bool lower_winograd(Builder& builder, const Group& group) {
  const network::Layer& layer = builder.layer(group.head);
  if (!can_be_winograd(builder, group.head))
    throw InputError(layer.name,
                     "its plan uses Winograd's algorithm, which cannot compute this convolution; "
                     "plan again");
  auto convolution = winograd_of(builder, group);
  if (!convolution) return false;
  if (is_in_halves_of_arm(builder, group.head)) return lower_halves(builder, group, *convolution);
  OwnParts parts = own_parts(builder, group, *convolution, false);
  const kernels::WinogradTiles tiles(*convolution);
  OwnWork& work = parts.work;
  work.constants.push_back(packed_weights(builder, layer.inputs[1], *convolution));
  work.working =
      builder.program().make_temporary(plain_desc({static_cast<std::int64_t>(tiles.working)}));
  kernels::WinogradOperands operands;
  operands.weights =
      reinterpret_cast<const float*>(builder.program().constant_data(work.constants.back()));
  operands.bias = parts.bias;
  if (parts.integers)
    operands.scale = parts.integers->source.encoding.scale /
                     (work.to.encoding.scale * convolution->activation.unit);
  work.run = [operands, kept = parts.scaled, convolution = *convolution,
              tiles](const OwnPlaces& places) mutable {
    operands.source = places.from;
    operands.working = reinterpret_cast<float*>(places.working);
    operands.result = places.to;
    convolve(convolution, tiles, operands);
  };
  post_operands(builder, group, work.to);
  builder.program().run(work, builder.variant(group.head).algorithm);
  return true;
}

}  // namespace millrace::engine::onednn
