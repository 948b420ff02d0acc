#include "engine/onednn/lower/lower_direct.h"

#include <algorithm>

#include "base/error.h"
#include "engine/onednn/lower/convolution_parts.h"
#include "engine/onednn/lower/post_ops.h"
#include "engine/onednn/ways.h"
#include "kernels/direct/direct_convolution.h"
#include "kernels/half/half_convolution.h"

namespace millrace::engine::onednn {
namespace {

/// A pad below zero wraps around, as WindowAxis of such a convolution wants it. Dimensions that
/// there are none of are of one pixel.
kernels::WindowAxis axis_from_end(const Builder& builder, LayerId id, std::size_t from_end) {
  const std::size_t rank = builder.tensor(builder.layer(id).inputs[0]).shape.size() - 2;
  return from_end > rank ? kernels::WindowAxis{} : axis_of(builder, id, rank - from_end);
}

std::optional<kernels::DirectConvolution> direct_of(const Builder& builder, const Group& group) {
  if (!can_be_direct(builder, group.head)) return std::nullopt;
  const network::Layer& layer = builder.layer(group.head);
  const network::Shape& in = builder.tensor(layer.inputs[0]).shape;
  kernels::DirectConvolution result;
  result.images = static_cast<std::size_t>(in[0]);
  result.channels = static_cast<std::size_t>(in[1]);
  result.outputs = static_cast<std::size_t>(builder.tensor(layer.outputs[0]).shape[1]);
  result.groups = static_cast<std::size_t>(geometry_of(layer.op).groups);
  result.width = axis_from_end(builder, group.head, 1);
  result.height = axis_from_end(builder, group.head, 2);
  result.depth = axis_from_end(builder, group.head, 3);
  result.lanes = vector_lanes();
  const auto with = with_tail(builder, group, result);
  if (!with) return std::nullopt;
  static_cast<kernels::OwnConvolution&>(result) = *with;
  return result;
}

struct PackedDirect {
  kernels::DirectConvolution convolution;
  Value weights;
};

bool is_in_halves(const Builder& builder, LayerId id) { return builder.type(id) == Type::f16; }

void run_halves(Builder& builder, OwnParts& parts, const PackedDirect& packed) {
  kernels::HalfOperands operands;
  operands.weights = builder.constant_data(packed.weights);
  operands.bias = parts.bias;
  parts.work.run = [operands, convolution = kernels::HalfConvolution{packed.convolution}](
                       const OwnPlaces& places) mutable {
    operands.source = reinterpret_cast<const kernels::Half*>(places.from);
    operands.result = reinterpret_cast<kernels::Half*>(places.to);
    convolve(convolution, operands);
  };
}

void run_floats(Builder& builder, OwnParts& parts, const PackedDirect& packed) {
  kernels::DirectOperands operands;
  operands.weights = reinterpret_cast<const float*>(builder.constant_data(packed.weights));
  operands.bias = parts.bias;
  parts.work.run = [operands,
                    convolution = packed.convolution](const OwnPlaces& places) mutable {
    operands.source = reinterpret_cast<const float*>(places.from);
    operands.result = reinterpret_cast<float*>(places.to);
    convolve(convolution, operands);
  };
}

void run_direct(Builder& builder, const Group& group, OwnParts& parts, const PackedDirect& packed) {
  is_in_halves(builder, group.head) ? run_halves(builder, parts, packed)
                                    : run_floats(builder, parts, packed);
  post_operands(builder, group, parts.work.to);
  builder.run(parts.work, std::string(direct));
}

}  // namespace

bool is_direct(const Builder& builder, LayerId id) {
  return builder.variant(id).algorithm == direct;
}

bool computes_direct(const Builder& builder, LayerId id) {
  if (builder.is_int8(id)) return false;
  return builder.type(id) == Type::f32 ||
         (is_in_halves(builder, id) && kernels::has_half_products());
}

bool can_be_direct(const Builder& builder, LayerId id) {
  const network::Layer& layer = builder.layer(id);
  if (!std::holds_alternative<network::Conv>(layer.op)) return false;
  if (!computes_direct(builder, id)) return false;
  const network::Shape& in = builder.tensor(layer.inputs[0]).shape;
  const auto is_filled = [](auto n) { return n > 0; };
  const network::Shape& out = builder.tensor(layer.outputs[0]).shape;
  return in.size() >= 3 && in.size() <= 5 && has_constants(builder, layer) &&
         std::all_of(in.begin(), in.end(), is_filled) &&
         std::all_of(out.begin(), out.end(), is_filled);
}

bool accepts_direct(const Builder& builder, const Group& group) {
  return direct_of(builder, group).has_value();
}

bool lower_direct(Builder& builder, const Group& group) {
  const network::Layer& layer = builder.layer(group.head);
  if (is_direct(builder, group.head) && !can_be_direct(builder, group.head))
    throw InputError(layer.name,
                     "its plan uses a direct kernel, which cannot compute this convolution; plan "
                     "again");
  auto convolution = direct_of(builder, group);
  if (!convolution) return false;
  OwnParts parts = own_parts(builder, group, *convolution, false);
  OwnWork& work = parts.work;
  const TensorId weights = layer.inputs[1];
  work.constants.push_back(
      is_in_halves(builder, group.head)
          ? packed_weights(builder, weights, kernels::HalfConvolution{*convolution})
          : packed_weights(builder, weights, *convolution));
  run_direct(builder, group, parts, {*convolution, work.constants.back()});
  return true;
}

bool accepts_direct(const Builder& builder, const Group& group, const ConstantProduct& product) {
  return own_convolution_of(builder, group, product).has_value();
}

bool lower_direct(Builder& builder, const Group& group, const ConstantProduct& product) {
  const auto own = own_convolution_of(builder, group, product);
  if (!own || !computes_direct(builder, group.head)) return false;
  kernels::DirectConvolution convolution{*own};
  convolution.lanes = vector_lanes();
  Packing::Own packed = convolution;
  if (is_in_halves(builder, group.head)) packed = kernels::HalfConvolution{convolution};
  OwnParts parts = product_parts(builder, group, product, packed);
  run_direct(builder, group, parts, {convolution, parts.work.constants.front()});
  return true;
}

}  // namespace millrace::engine::onednn
