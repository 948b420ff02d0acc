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
  if (builder.is_int8(group.head))
    result.factors = kernels::AmxFactors::int8;
  else if (builder.type(group.head) == Type::bf16)
    result.factors = kernels::AmxFactors::bf16;
  return result;
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
  if (!can_be_on_tiles(builder, group.head))
    throw InputError(layer.name,
                     "its plan uses AMX tiles, which this process cannot use; plan again here");
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

}  // namespace millrace::engine::onednn
