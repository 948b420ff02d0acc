#include "engine/onednn/lower/lower_integers.h"

#include <algorithm>

#include "base/error.h"
#include "engine/onednn/lower/post_ops.h"
#include "engine/onednn/ways.h"
#include "kernels/integer/integer_convolution.h"
#include "kernels/quads/quad_convolution.h"

namespace millrace::engine::onednn {
namespace {

using kernels::QuadConvolution;

constexpr std::int64_t most_summed_quads = 65'536;  // products that a sum of 32 bits holds

/// A pad below zero wraps around, as WindowAxis of such a convolution wants it.
kernels::WindowAxis quad_axis(const Builder& builder, LayerId id, std::size_t from_end) {
  const std::size_t rank = builder.tensor(builder.layer(id).inputs[0]).shape.size() - 2;
  return from_end > rank ? kernels::WindowAxis{} : axis_of(builder, id, rank - from_end);
}

std::optional<QuadConvolution> quads_of(const Builder& builder, const Group& group) {
  if (!can_be_in_quads(builder, group.head)) return std::nullopt;
  const network::Layer& layer = builder.layer(group.head);
  const network::Shape& in = builder.tensor(layer.inputs[0]).shape;
  QuadConvolution result;
  result.images = static_cast<std::size_t>(in[0]);
  result.channels = static_cast<std::size_t>(in[1]);
  result.outputs = static_cast<std::size_t>(builder.tensor(layer.outputs[0]).shape[1]);
  result.groups = static_cast<std::size_t>(geometry_of(layer.op).groups);
  result.width = quad_axis(builder, group.head, 1);
  result.height = quad_axis(builder, group.head, 2);
  result.depth = quad_axis(builder, group.head, 3);
  result.unit = *byte_unit();
  const auto with = with_tail(builder, group, result);
  if (!with) return std::nullopt;
  static_cast<kernels::OwnConvolution&>(result) = *with;
  return result;
}

/// Weights decide which of two units for AVX2 is faster. `scales`: of the weights.
void choose_unit(QuadConvolution& convolution, std::span<const float> weights,
                 const std::vector<float>& scales) {
  if (convolution.unit != kernels::ByteUnit::avx2) return;
  std::vector<float> factors;
  for (const float scale : scales) factors.push_back(1 / scale);
  convolution.unit = faster_unit(convolution, weights, factors);
}

/// A matrix that is read in that way, row by row.
std::vector<float> rows_of(const network::Array& matrix, const Desc& view) {
  const Dims dims = dims_of(view), strides = dense_strides(view).value();
  const std::span<const float> given = matrix.values<float>();
  std::vector<float> rows;
  rows.reserve(given.size());
  for (std::int64_t row = 0; row < dims[0]; ++row)
    for (std::int64_t i = 0; i < dims[1]; ++i)
      rows.push_back(given[static_cast<std::size_t>(row * strides[0] + i * strides[1])]);
  return rows;
}

std::shared_ptr<const Scaled> with_padding(const Scaled& scaled) {
  Scaled padded = scaled;
  for (std::vector<float>* numbers : {&padded.scales, &padded.bias})
    numbers->resize(numbers->size() + kernels::quad_padding);
  return std::make_shared<const Scaled>(std::move(padded));
}

struct PackedQuads {
  QuadConvolution convolution;
  Value weights;
};

void run_quads(Builder& builder, const Group& group, OwnParts& parts, const PackedQuads& packed) {
  const auto kept = with_padding(*parts.scaled);
  kernels::QuadOperands operands;
  operands.weights = builder.program().constant_data(packed.weights);
  operands.scales = kept->scales.data();
  operands.bias = kept->bias.data();
  parts.work.run = [operands, kept, convolution = packed.convolution](
                       const OwnPlaces& places) mutable {
    operands.source = places.from;
    operands.result = places.to;
    convolve(convolution, operands);
  };
  post_operands(builder, group, parts.work.to);
  builder.program().run(parts.work, std::string(direct_in_bytes));
}

bool has_filled(const network::Shape& shape) {
  return std::all_of(shape.begin(), shape.end(), [](auto n) { return n > 0; });
}

/// In units of the sums.
std::vector<float> product_bias(const Builder& builder, const ConstantProduct& product,
                                std::size_t outputs) {
  std::vector<float> bias(outputs);
  if (!product.bias.valid()) return bias;
  const auto given = builder.tensor(product.bias).constant->values<float>();
  std::copy(given.begin(), given.end(), bias.begin());
  return bias;
}

/// Any integer may stand for 0 in what lies in 8 bits already.
Quantization source_of_product(Builder& builder, const Group& group, TensorId source) {
  const Value now = builder.value(source);
  if (is_quantized(now.desc)) return {type_of(now.desc), now.encoding};
  return builder.eight_bits().quantization(source, group.head);
}

}  // namespace

bool is_in_integers(const Builder& builder, LayerId id) {
  const std::string algorithm = builder.variant(id).algorithm;
  return algorithm == in_pairs || algorithm == in_quads;
}

bool can_be_in_integers(const Builder& builder, LayerId id) {
  if (!has_integer_products() || !can_be_own(builder, id)) return false;
  if (!is_int8(builder, id)) return has_half(type_of(builder, id));
  const network::Shape& weights = builder.tensor(builder.layer(id).inputs[1]).shape;
  constexpr std::int64_t most = 65'536;  // products that a sum of 32 bits holds
  return weights[1] <= most && weights[2] <= most && weights[3] <= most &&
         weights[1] * weights[2] * weights[3] <= most;
}

bool lower_in_integers(Builder& builder, const Group& group) {
  const network::Layer& layer = builder.layer(group.head);
  if (!can_be_in_integers(builder, group.head))
    throw InputError(layer.name,
                     "its plan uses an integer kernel that this machine cannot run; plan again "
                     "here");
  const auto own = own_convolution_of(builder, group);
  if (!own) return false;
  kernels::IntegerConvolution convolution{*own};
  OwnParts parts = own_parts(builder, group, convolution, false);
  const kernels::IntegerPanels panels(convolution);
  OwnWork& work = parts.work;
  work.constants.push_back(packed_weights(builder, layer.inputs[1], convolution, parts.integers));
  const auto working = static_cast<std::int64_t>(panels.working);
  work.working = builder.program().make_temporary(row_major_desc({working}, Type::u8));
  kernels::IntegerOperands operands;
  operands.weights = builder.program().constant_data(work.constants.back());
  operands.bias = parts.bias;
  if (parts.scaled) operands.scales = parts.scaled->scales.data();
  work.run = [operands, kept = parts.scaled, convolution, panels](const OwnPlaces& places) mutable {
    operands.source = places.from;
    operands.working = places.working;
    operands.result = places.to;
    convolve(convolution, panels, operands);
  };
  post_operands(builder, group, work.to);
  builder.program().run(work, std::string(parts.integers ? in_quads : in_pairs));
  return true;
}

bool is_in_quads(const Builder& builder, LayerId id) {
  const std::string algorithm = builder.variant(id).algorithm;
  if (algorithm == direct_in_bytes) return true;
  return is_int8(builder, id) && algorithm.empty() && !has_exact_bytes() && byte_unit();
}

bool can_be_in_quads(const Builder& builder, LayerId id) {
  const network::Layer& layer = builder.layer(id);
  if (!byte_unit() || !is_int8(builder, id) || !std::holds_alternative<network::Conv>(layer.op))
    return false;
  const network::Shape& in = builder.tensor(layer.inputs[0]).shape;
  const network::Shape& weights = builder.tensor(layer.inputs[1]).shape;
  if (in.size() < 3 || in.size() > 5 || !has_constants(builder, layer)) return false;
  if (!has_filled(in) || !has_filled(weights) ||
      !has_filled(builder.tensor(layer.outputs[0]).shape))
    return false;
  std::int64_t summed = 1;
  for (std::size_t d = 1; d < weights.size() && summed <= most_summed_quads; ++d)
    summed *= weights[d];
  return summed <= most_summed_quads;
}

bool accepts_quads(const Builder& builder, const Group& group) {
  return quads_of(builder, group).has_value();
}

bool lower_quads(Builder& builder, const Group& group) {
  const network::Layer& layer = builder.layer(group.head);
  if (!can_be_in_quads(builder, group.head))
    throw InputError(layer.name,
                     "its plan uses a direct kernel of bytes that this machine cannot run; plan "
                     "again here");
  auto convolution = quads_of(builder, group);
  if (!convolution) return false;
  OwnParts parts = own_parts(builder, group, *convolution, false);
  const auto numbers = builder.tensor(layer.inputs[1]).constant->values<float>();
  choose_unit(*convolution, numbers, parts.integers->weights);
  const Value weights = packed_weights(builder, layer.inputs[1], *convolution, parts.integers);
  parts.work.constants = {weights};
  run_quads(builder, group, parts, {*convolution, weights});
  return true;
}

bool accepts_quads(const Builder& builder, const Group& group, const ConstantProduct& product) {
  if (!is_int8(builder, group.head) || has_exact_bytes() || !byte_unit()) return false;
  const auto own = own_convolution_of(builder, group, product);
  return own && static_cast<std::int64_t>(own->channels) <= most_summed_quads;
}

bool lower_quads(Builder& builder, const Group& group, const ConstantProduct& product) {
  if (!accepts_quads(builder, group, product)) return false;
  QuadConvolution convolution{*own_convolution_of(builder, group, product)};
  convolution.unit = *byte_unit();
  const Quantization source = source_of_product(builder, group, product.source);
  convolution.source =
      source.type == Type::u8 ? kernels::StoredNumber::u8 : kernels::StoredNumber::s8;
  convolution.source_zero = source.encoding.zero;
  const network::Tensor& matrix = builder.tensor(product.weights);
  const std::vector<float> scales = channel_scales(*matrix.constant, product.view, 1);
  Scaled scaled{{}, product_bias(builder, product, convolution.outputs)};
  for (const float scale : scales) scaled.scales.push_back(source.encoding.scale * scale);
  choose_unit(convolution, rows_of(*matrix.constant, product.view), scales);
  OwnParts parts;
  parts.scaled = std::make_shared<const Scaled>(std::move(scaled));
  const TensorId result = result_of(builder.network(), group);
  const network::Shape& shape = builder.tensor(product.source).shape;
  parts.work.from =
      builder.in_layout(product.source, row_major_desc(shape, source.type), source.encoding);
  parts.work.to = builder.make(result, plain_desc(builder.tensor(result).shape));
  parts.work.adds = convolution.adds;
  Packing packing{product.view,
                  row_major_desc({static_cast<std::int64_t>(packed_size(convolution))}, Type::u8),
                  {{}, 1}};
  for (const float scale : scales) packing.scales.factors.push_back(1 / scale);
  packing.own = convolution;
  const Value weights = builder.in_layout(product.weights, packing);
  parts.work.constants = {weights};
  run_quads(builder, group, parts, {convolution, weights});
  return true;
}

}  // namespace millrace::engine::onednn
