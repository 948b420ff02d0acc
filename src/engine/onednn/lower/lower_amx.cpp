#include "engine/onednn/lower/lower_amx.h"

#include <algorithm>

#include "base/error.h"
#include "engine/onednn/lower/convolution_parts.h"
#include "engine/onednn/lower/post_ops.h"
#include "engine/onednn/ways.h"
#include "kernels/amx/amx_strip.h"

namespace millrace::engine::onednn {
namespace {

std::optional<kernels::AmxConvolution> amx_of(const Builder& builder, const Group& group) {
  const auto own = own_convolution_of(builder, group);
  if (!own) return std::nullopt;
  kernels::AmxConvolution result{*own};
  if (builder.is_int8(group.head))
    result.factors = kernels::AmxFactors::int8;
  else if (builder.type(group.head) == Type::bf16)
    result.factors = kernels::AmxFactors::bf16;
  return result;
}

constexpr std::size_t fewest_tile_rows = 16;       // of a tile; less leave most of it empty
constexpr std::size_t bytes_of_rows = 768 * 1024;  // as terms, of a second-level cache

/// The product of so many rows: pixels of an image of one row.
kernels::AmxConvolution with_rows(kernels::AmxConvolution convolution, std::size_t rows) {
  convolution.width.input = convolution.width.output = rows;
  return convolution;
}

/// With what is fused into it; nothing if that is too much. For as many rows as the cache holds.
std::optional<kernels::AmxConvolution> amx_of(const Builder& builder, const Group& group,
                                              const TileProduct& product) {
  const Dims dims = dims_of(product.view);
  kernels::OwnConvolution convolution;
  convolution.outputs = static_cast<std::size_t>(dims[0]);
  convolution.channels = static_cast<std::size_t>(dims[1]);
  const auto own = with_tail(builder, group, convolution);
  if (!own) return std::nullopt;
  const kernels::AmxConvolution result{*own};
  const std::size_t of_row =
      working_size(with_rows(result, 2)) - working_size(with_rows(result, 1));
  const std::size_t most = std::max(fewest_tile_rows, bytes_of_rows / of_row);
  return with_rows(result, std::min(product.rows, most));
}

void check_tiles(const network::Layer& layer, bool can_be) {
  if (!can_be)
    throw InputError(layer.name,
                     "its plan uses AMX tiles, which this process cannot use; plan again here");
}

}  // namespace

bool is_on_tiles(const Builder& builder, LayerId id) {
  const std::string algorithm = builder.variant(id).algorithm;
  return algorithm == on_tiles || algorithm == split_on_tiles;
}

bool can_be_on_tiles(const Builder& builder, LayerId id) {
  const bool is_float16 = !builder.is_int8(id) && builder.type(id) == Type::f16;
  return has_amx() && !is_float16 && can_be_own(builder, id);
}

bool lower_on_tiles(Builder& builder, const Group& group) {
  const network::Layer& layer = builder.layer(group.head);
  check_tiles(layer, can_be_on_tiles(builder, group.head));
  auto convolution = amx_of(builder, group);
  if (!convolution) return false;
  OwnParts parts = own_parts(builder, group, *convolution, true);
  OwnWork& work = parts.work;
  work.constants.push_back(packed_weights(builder, layer.inputs[1], *convolution, parts.integers));
  const auto working = static_cast<std::int64_t>(working_size(*convolution));
  work.working = builder.make_temporary(row_major_desc({working}, Type::u8));
  kernels::AmxOperands operands;
  operands.weights = builder.constant_data(work.constants.back());
  operands.bias = parts.bias;
  if (parts.scaled) operands.scales = parts.scaled->scales.data();
  work.run = [operands, kept = parts.scaled, convolution = *convolution,
              strips = kernels::AmxStrips(*convolution)](const OwnPlaces& places) mutable {
    operands.source = places.from;
    operands.working = places.working;
    operands.result = places.to;
    convolve(convolution, strips, operands);
  };
  post_operands(builder, group, work.to);
  builder.run(work, std::string(convolution->factors == kernels::AmxFactors::split ? split_on_tiles
                                                                                   : on_tiles));
  return true;
}

bool can_be_on_tiles(const TileProduct& product) {
  return has_amx() && product.rows >= fewest_tile_rows;
}

bool accepts_on_tiles(const Builder& builder, const Group& group, const TileProduct& product) {
  return amx_of(builder, group, product).has_value();
}

void lower_on_tiles(Builder& builder, const Group& group, const TileProduct& product) {
  check_tiles(builder.layer(group.head), has_amx());
  const kernels::AmxConvolution many = *amx_of(builder, group, product);
  const std::size_t at_once = many.width.output;
  const std::size_t left = (product.rows - 1) % at_once + 1;  // for the last time
  const TensorId id = result_of(builder.network(), group);
  OwnWork work;
  work.from = builder.in_layout(product.source, plain_desc(builder.tensor(product.source).shape));
  work.to = builder.make(id, plain_desc(builder.tensor(id).shape));
  work.adds = many.adds;
  work.constants = {packed_weights(builder, product.weights, many, {}, product.view)};
  kernels::AmxOperands operands;
  operands.weights = builder.constant_data(work.constants.front());
  if (product.bias.valid()) {
    work.constants.push_back(builder.plain(product.bias));
    operands.bias = reinterpret_cast<const float*>(builder.constant_data(work.constants.back()));
  }
  const auto working = static_cast<std::int64_t>(working_size(many));
  work.working = builder.make_temporary(row_major_desc({working}, Type::u8));
  const kernels::AmxConvolution few = with_rows(many, left);
  work.run = [operands, many, few, of_many = kernels::AmxStrips(many),
              of_few = kernels::AmxStrips(few),
              rows = product.rows](const OwnPlaces& places) mutable {
    operands.working = places.working;
    for (std::size_t row = 0; row < rows; row += many.width.output) {
      const bool is_last = row + many.width.output >= rows;
      operands.source = places.from + row * many.channels * sizeof(float);
      operands.result = places.to + row * many.outputs * sizeof(float);
      convolve(is_last ? few : many, is_last ? of_few : of_many, operands);
    }
  };
  post_operands(builder, group, work.to);
  builder.run(work, std::string(split_on_tiles));
}

}  // namespace millrace::engine::onednn
