#include "engine/onednn/lower/lower_direct.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "engine/onednn/lower/convolution_parts.h"
#include "engine/onednn/lower/post_ops.h"
#include "engine/onednn/memory/turning.h"
#include "engine/onednn/ways.h"
#include "kernels/direct/direct_convolution.h"
#include "kernels/direct/matrix_product.h"
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

bool is_in_halves(const Builder& builder, LayerId id) { return has_own_half(type_of(builder, id)); }

void run_halves(Builder& builder, OwnParts& parts, const PackedDirect& packed) {
  kernels::HalfOperands operands;
  operands.weights = builder.program().constant_data(packed.weights);
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
  operands.weights =
      reinterpret_cast<const float*>(builder.program().constant_data(packed.weights));
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
  builder.program().run(parts.work, std::string(direct));
}

/// With weights or a bias that are computed: the weights are packed before each run.
void run_packing(Builder& builder, const Group& group, OwnParts& parts,
                 const kernels::DirectConvolution& convolution) {
  const network::Layer& layer = builder.layer(group.head);
  const auto size = static_cast<std::int64_t>(packed_size(convolution));
  OwnWork pack{builder.plain(layer.inputs[1]),
               builder.program().make_temporary(row_major_desc({size}, Type::u8)),
               {}};
  const auto count =
      static_cast<std::size_t>(network::element_count(builder.tensor(layer.inputs[1]).shape));
  pack.run = [convolution, count, size](const OwnPlaces& places) {
    pack_weights(convolution, {reinterpret_cast<const float*>(places.from), count},
                 {places.to, static_cast<std::size_t>(size)});
  };
  builder.program().run(pack, "reorder");
  parts.work.others = {pack.to};
  if (has_bias(layer)) parts.work.others.push_back(builder.plain(layer.inputs[2]));
  parts.work.run = [convolution](const OwnPlaces& places) {
    convolve(convolution, {reinterpret_cast<const float*>(places.from),
                           reinterpret_cast<const float*>(places.others[0]),
                           reinterpret_cast<const float*>(places.others[1]),
                           reinterpret_cast<float*>(places.to)});
  };
  post_operands(builder, group, parts.work.to);
  builder.program().run(parts.work, std::string(direct));
}

/// The first numbers of all matrices that are multiplied, in the order of the results. A dimension
/// of 1 is repeated.
std::vector<kernels::MatrixProduct::Place> stack_of(const ComputedProduct& product) {
  const Dims result = dims_of(product.result_view), a = dims_of(product.a_view),
             b = dims_of(product.b_view), b_strides = *dense_strides(product.b_view);
  const Dims a_strides = *dense_strides(plain_desc(a));
  std::vector<kernels::MatrixProduct::Place> stack{{}};
  for (std::size_t d = 0; d + 2 < result.size(); ++d) {
    const std::vector<kernels::MatrixProduct::Place> before = std::exchange(stack, {});
    for (const auto& place : before)
      for (std::int64_t i = 0; i < result[d]; ++i) {
        const auto moved = [&](std::size_t from, const Dims& dims, const Dims& strides) {
          return from + static_cast<std::size_t>(dims[d] == 1 ? 0 : i * strides[d]);
        };
        stack.push_back({moved(place.a, a, a_strides), moved(place.b, b, b_strides)});
      }
  }
  return stack;
}

std::optional<kernels::MatrixProduct> matrices_of(const Builder& builder, const Group& group,
                                                  const ComputedProduct& product) {
  if (is_int8(builder, group.head) || type_of(builder, group.head) != Type::f32)
    return std::nullopt;
  const Dims result = dims_of(product.result_view), a = dims_of(product.a_view);
  const std::size_t rank = result.size();
  const Dims strides = *dense_strides(product.b_view);
  kernels::MatrixProduct matrices;
  kernels::DirectConvolution own;
  own.height.input = own.height.output = static_cast<std::size_t>(result[rank - 2]);
  own.channels = static_cast<std::size_t>(a[rank - 1]);
  own.outputs = static_cast<std::size_t>(result[rank - 1]);
  own.lanes = vector_lanes();
  const auto with = with_tail(builder, group, own);
  if (!with) return std::nullopt;
  static_cast<kernels::OwnConvolution&>(own) = *with;
  matrices.product = own;
  matrices.b_row = static_cast<std::size_t>(strides[rank - 2]);
  matrices.b_column = static_cast<std::size_t>(strides[rank - 1]);
  matrices.scale = product.alpha;
  return matrices;
}

}  // namespace

bool is_direct(const Builder& builder, LayerId id) {
  return builder.variant(id).algorithm == direct;
}

bool computes_direct(const Builder& builder, LayerId id) {
  if (is_int8(builder, id)) return false;
  return type_of(builder, id) == Type::f32 || is_in_halves(builder, id);
}

bool can_be_direct(const Builder& builder, LayerId id) {
  const network::Layer& layer = builder.layer(id);
  if (!std::holds_alternative<network::Conv>(layer.op)) return false;
  if (!computes_direct(builder, id)) return false;
  const network::Shape& in = builder.tensor(layer.inputs[0]).shape;
  const auto is_filled = [](auto n) { return n > 0; };
  const network::Shape& out = builder.tensor(layer.outputs[0]).shape;
  const bool packs_when_run = type_of(builder, id) == Type::f32;
  return in.size() >= 3 && in.size() <= 5 && (packs_when_run || has_constants(builder, layer)) &&
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
  if (!has_constants(builder, layer)) {
    run_packing(builder, group, parts, *convolution);
    return true;
  }
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
  convolution.source = convolution.result = convolution.added =
      stored_number_of(type_of(builder, group.head));
  Packing::Own packed = convolution;
  if (is_in_halves(builder, group.head)) packed = kernels::HalfConvolution{convolution};
  OwnParts parts = product_parts(builder, group, product, packed);
  run_direct(builder, group, parts, {convolution, parts.work.constants.front()});
  return true;
}

bool accepts_direct(const Builder& builder, const Group& group, const ComputedProduct& product) {
  return matrices_of(builder, group, product).has_value();
}

bool lower_direct(Builder& builder, const Group& group, const ComputedProduct& product) {
  auto matrices = matrices_of(builder, group, product);
  if (!matrices) return false;
  matrices->stack = stack_of(product);
  const TensorId id = result_of(builder.network(), group);
  const auto size = static_cast<std::int64_t>(working_size(*matrices));
  OwnWork work;
  work.from =
      builder.in_layout(product.a, Packing{product.a_view, plain_desc(dims_of(product.a_view))});
  work.others = {builder.plain(product.b)};
  if (product.bias.valid()) work.others.push_back(builder.plain(product.bias));
  work.to = builder.make(id, plain_desc(builder.tensor(id).shape));
  work.working = builder.program().make_temporary(row_major_desc({size}, Type::u8));
  work.adds = matrices->product.adds;
  work.run = [matrices = *matrices](const OwnPlaces& places) {
    const auto floats = [](const std::byte* at) { return reinterpret_cast<const float*>(at); };
    multiply_matrices(matrices,
                      {floats(places.from), floats(places.others[0]), floats(places.others[1]),
                       places.working, reinterpret_cast<float*>(places.to)});
  };
  post_operands(builder, group, work.to);
  builder.program().run(work, std::string(direct));
  return true;
}

}  // namespace millrace::engine::onednn
