#include "engine/onednn/lower_pairs.h"

#include "base/error.h"
#include "engine/onednn/convolution_parts.h"
#include "engine/onednn/pair_convolution.h"
#include "engine/onednn/post_ops.h"
#include "engine/onednn/ways.h"

namespace millrace::engine::onednn {
bool is_in_pairs(const Builder& builder, LayerId id) {
  return builder.variant(id).algorithm == in_pairs;
}

bool can_be_in_pairs(const Builder& builder, LayerId id) {
  const bool is_bfloat16 = !builder.is_int8(id) && builder.type(id) == Type::bf16;
  return is_bfloat16 && has_pair_products() && has_bfloat16() && can_be_own(builder, id);
}

bool lower_in_pairs(Builder& builder, const Group& group) {
  const network::Layer& layer = builder.layer(group.head);
  if (!can_be_in_pairs(builder, group.head))
    throw InputError(layer.name, "cannot run here in the integers of its plan; measure again");
  const auto own = own_convolution_of(builder, group);
  if (!own) return false;
  PairConvolution convolution{*own};
  OwnParts parts = own_parts(builder, group, convolution, false);
  const PairPanels panels(convolution);
  OwnWork& work = parts.work;
  work.constants.push_back(packed_weights(builder, layer.inputs[1], convolution));
  const auto working = static_cast<std::int64_t>(panels.working);
  work.working = builder.make_temporary(row_major_desc({working}, Type::u8));
  PairOperands operands;
  operands.weights = builder.constant_data(work.constants.back());
  operands.bias = parts.bias;
  work.run = [operands, convolution, panels](const OwnPlaces& places) mutable {
    operands.source = places.from;
    operands.working = places.working;
    operands.result = places.to;
    convolve(convolution, panels, operands);
  };
  post_operands(builder, group, work.to);
  builder.run(work, std::string(in_pairs));
  return true;
}

}  // namespace millrace::engine::onednn
