#include "engine/onednn/lower/lower_integers.h"

#include "base/error.h"
#include "engine/onednn/lower/convolution_parts.h"
#include "engine/onednn/lower/post_ops.h"
#include "engine/onednn/ways.h"
#include "kernels/integer/integer_convolution.h"

namespace millrace::engine::onednn {

bool is_in_integers(const Builder& builder, LayerId id) {
  const std::string algorithm = builder.variant(id).algorithm;
  return algorithm == in_pairs || algorithm == in_quads;
}

bool can_be_in_integers(const Builder& builder, LayerId id) {
  if (!has_integer_products() || !can_be_own(builder, id)) return false;
  if (!builder.is_int8(id)) return has_half(builder.type(id));
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
  work.working = builder.make_temporary(row_major_desc({working}, Type::u8));
  kernels::IntegerOperands operands;
  operands.weights = builder.constant_data(work.constants.back());
  operands.bias = parts.bias;
  if (parts.scaled) operands.scales = parts.scaled->scales.data();
  work.run = [operands, kept = parts.scaled, convolution, panels](const OwnPlaces& places) mutable {
    operands.source = places.from;
    operands.working = places.working;
    operands.result = places.to;
    convolve(convolution, panels, operands);
  };
  post_operands(builder, group, work.to);
  builder.run(work, std::string(parts.integers ? in_quads : in_pairs));
  return true;
}

}  // namespace millrace::engine::onednn
