#include "engine/onednn/lower/lower_amx.h"

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
  if (is_int8(builder, group.head))
    result.factors = kernels::AmxFactors::int8;
  else if (type_of(builder, group.head) == Type::bf16)
    result.factors = kernels::AmxFactors::bf16;
  return result;
}

constexpr std::size_t fewest_rows_on_tiles = 16;  // of the 32 of a block

std::optional<kernels::AmxConvolution> amx_of(const Builder& builder, const Group& group,
                                              const ConstantProduct& product) {
  const auto own = own_convolution_of(builder, group, product);
  return own ? std::optional(kernels::AmxConvolution{*own}) : std::nullopt;
}

struct Operands {
  kernels::AmxOperands lie;                      // where the constants do
  std::shared_ptr<const Scaled> kept = nullptr;  // the numbers that some point to
};

/// Runs a convolution whose weights are packed already.
void run(Builder& builder, OwnWork& work, const kernels::AmxConvolution& convolution,
         const Operands& constants) {
  const auto working = static_cast<std::int64_t>(working_size(convolution));
  work.working = builder.program().make_temporary(row_major_desc({working}, Type::u8));
  work.run = [operands = constants.lie, kept = constants.kept, convolution,
              strips = kernels::AmxStrips(convolution)](const OwnPlaces& places) mutable {
    operands.source = places.from;
    operands.working = places.working;
    operands.result = places.to;
    convolve(convolution, strips, operands);
  };
  const bool splits = convolution.factors == kernels::AmxFactors::split;
  builder.program().run(work, std::string(splits ? split_on_tiles : on_tiles));
}

}  // namespace

bool is_on_tiles(const Builder& builder, LayerId id) {
  const std::string algorithm = builder.variant(id).algorithm;
  return algorithm == on_tiles || algorithm == split_on_tiles;
}

bool can_be_on_tiles(const Builder& builder, LayerId id) {
  const bool is_float16 = !is_int8(builder, id) && type_of(builder, id) == Type::f16;
  return has_amx() && !is_float16 && can_be_own(builder, id);
}

void check_tiles(const network::Layer& layer, bool can_be) {
  if (!can_be)
    throw InputError(layer.name,
                     "its plan uses AMX tiles, which this process cannot use; plan again here");
}

bool lower_on_tiles(Builder& builder, const Group& group) {
  const network::Layer& layer = builder.layer(group.head);
  check_tiles(layer, can_be_on_tiles(builder, group.head));
  auto convolution = amx_of(builder, group);
  if (!convolution) return false;
  OwnParts parts = own_parts(builder, group, *convolution, true);
  OwnWork& work = parts.work;
  work.constants.push_back(packed_weights(builder, layer.inputs[1], *convolution, parts.integers));
  kernels::AmxOperands operands;
  operands.weights = builder.program().constant_data(work.constants.back());
  operands.bias = parts.bias;
  if (parts.scaled) operands.scales = parts.scaled->scales.data();
  post_operands(builder, group, work.to);
  run(builder, work, *convolution, {operands, parts.scaled});
  return true;
}

bool can_be_on_tiles(const ConstantProduct& product) {
  return has_amx() && product.rows >= fewest_rows_on_tiles;
}

bool accepts_on_tiles(const Builder& builder, const Group& group, const ConstantProduct& product) {
  return amx_of(builder, group, product).has_value();
}

bool lower_on_tiles(Builder& builder, const Group& group, const ConstantProduct& product) {
  check_tiles(builder.layer(group.head), has_amx());
  const auto convolution = amx_of(builder, group, product);
  if (!convolution) return false;
  OwnParts parts = product_parts(builder, group, product, *convolution);
  OwnWork& work = parts.work;
  kernels::AmxOperands operands;
  operands.weights = builder.program().constant_data(work.constants.front());
  operands.bias = parts.bias;
  post_operands(builder, group, work.to);
  run(builder, work, *convolution, {operands});
  return true;
}

}  // namespace millrace::engine::onednn
