// Functions of one number by a loop of our own.
#include <limits>
#include <optional>

#include "engine/onednn/lower/lower.h"
#include "engine/onednn/lower/post_ops.h"
#include "kernels/plain/functions.h"

namespace millrace::engine::onednn {
namespace {

std::optional<kernels::Function> own_function(const network::Unary& function) {
  using enum network::UnaryKind;
  using kernels::Function;
  if (const auto faster = faster_function(function)) return faster;
  switch (function.kind) {
    case erf:
      return Function::erf;
    case floor:
      return Function::floor;
    case ceil:
      return Function::ceil;
    case sin:
      return Function::sin;
    case cos:
      return Function::cos;
    case exp:
      return Function::exp;
    case log:
      return Function::log;
    case softplus:
      return Function::softplus;
    case celu:
      return Function::celu;
    case selu:
      return Function::selu;
    case sign:
      return Function::sign;
    case reciprocal:
      return Function::reciprocal;
    case softsign:
      return Function::softsign;
    case shrink:
      return Function::shrink;
    case thresholded_relu:
      return Function::thresholded_relu;
    case relu:
    case clip:
      return Function::clip;
    case hard_sigmoid:
      return Function::hard_sigmoid;
    default:
      return std::nullopt;
  }
}

}  // namespace

bool loses_nan(Builder& builder, LayerId id) {
  using enum network::UnaryKind;
  const network::Layer& layer = builder.layer(id);
  const auto kind = std::get<network::Unary>(layer.op).kind;
  const Desc now = builder.value(layer.inputs[0]).desc;
  return (kind == relu || kind == clip || kind == hard_sigmoid) && type_of(now) == Type::f32 &&
         dense_strides(now);
}

bool lower_function(Builder& builder, LayerId id) {
  const network::Layer& layer = builder.layer(id);
  const auto& op = std::get<network::Unary>(layer.op);
  const auto function = own_function(op);
  const bool falls = op.kind == network::UnaryKind::celu && !(op.alpha > 0);
  if (!function || falls) return false;
  const Value now = builder.value(layer.inputs[0]);
  const Desc layout = dense_strides(now.desc) ? retyped(now.desc, Type::f32)
                                              : channels_last_desc(dims_of(now.desc));
  const Value from = builder.in_layout(layer.inputs[0], layout);
  kernels::ElementFunction element{*function, static_cast<float>(op.alpha),
                                   static_cast<float>(op.beta)};
  if (op.kind == network::UnaryKind::relu) element.beta = std::numeric_limits<float>::infinity();
  const auto count = static_cast<std::size_t>(size_of(layout).count) / sizeof(float);
  const auto loop = [element, count](const OwnPlaces& at) {
    apply(element, {reinterpret_cast<const float*>(at.from), count},
          reinterpret_cast<float*>(at.to));
  };
  builder.run_in_place({from, builder.make(layer.outputs[0], layout), loop}, "functions");
  return true;
}

}  // namespace millrace::engine::onednn
