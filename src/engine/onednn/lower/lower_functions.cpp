// Functions of one number, and on 64-bit ARM sums and products of two in 16 bits, by loops of our
// own.
#include <algorithm>
#include <limits>
#include <optional>

#include "engine/onednn/lower/convolution_parts.h"
#include "engine/onednn/lower/lower.h"
#include "engine/onednn/lower/post_ops.h"
#include "engine/onednn/memory/turning.h"
#include "engine/onednn/ways.h"
#include "kernels/half/half_elements.h"
#include "kernels/half/half_layers.h"
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
    case hard_swish:
      return Function::hard_swish;
    case tanh:
      return Function::tanh;
    case gelu:
      return Function::gelu;
    case gelu_tanh:
      return Function::gelu_tanh;
    case elu:
      return Function::elu;
    case leaky_relu:
      return Function::leaky_relu;
    case abs:
      return Function::abs;
    case neg:
      return Function::neg;
    default:
      return std::nullopt;
  }
}

/// What is clipped is all that may be fused.
std::optional<kernels::HalfPairing> pairing_of(const Builder& builder, const Group& group) {
  using network::BinaryKind;
  const auto kind = std::get<network::Binary>(builder.layer(group.head).op).kind;
  const auto activation = activation_of(builder, group);
  if ((kind != BinaryKind::add && kind != BinaryKind::mul) || !activation) return std::nullopt;
  if (activation->slope != 1) return std::nullopt;
  const auto pairs =
      kind == BinaryKind::add ? kernels::HalfPairs::sums : kernels::HalfPairs::products;
  return kernels::HalfPairing{pairs, activation->low, activation->high};
}

/// A number for each channel of one image.
bool is_by_channel(const network::Shape& shape, const network::Shape& image) {
  if (image.size() < 3 || image[0] != 1 || shape.size() != image.size()) return false;
  const auto is_one = [](auto n) { return n == 1; };
  return shape[0] == 1 && shape[1] == image[1] &&
         std::all_of(shape.begin() + 2, shape.end(), is_one);
}

/// The numbers of the larger one first.
struct Halves {
  TensorId a, b;
  Desc layout, of_b;
  std::size_t row = 0;
};

/// Nothing unless one lies in 16 bits already, in a layout without gaps.
std::optional<Halves> halves_of(Builder& builder, const Group& group) {
  const network::Layer& layer = builder.layer(group.head);
  const network::Shape& result = builder.tensor(layer.outputs[0]).shape;
  Halves halves{layer.inputs[0], layer.inputs[1], {}, {}};
  if (builder.tensor(halves.a).shape != result) std::swap(halves.a, halves.b);
  if (builder.tensor(halves.a).shape != result) return std::nullopt;
  const network::Shape& other = builder.tensor(halves.b).shape;
  if (other == result && !has_own_half(type_of(builder.value(halves.a).desc)))
    std::swap(halves.a, halves.b);
  halves.layout = builder.value(halves.a).desc;
  const Type type = type_of(halves.layout);
  if (!has_own_half(type) || !dense_strides(halves.layout)) return std::nullopt;
  halves.of_b = halves.layout;
  if (other == result) return halves;
  if (!is_by_channel(other, result)) return std::nullopt;
  halves.layout = channels_last_desc(result, type);
  halves.of_b = row_major_desc(other, type);
  halves.row = static_cast<std::size_t>(result[1]);
  return halves;
}

/// Runs a function of numbers that lie in 16 bits already: they stay so.
bool run_on_halves(Builder& builder, const network::Layer& layer,
                   const kernels::ElementFunction& function) {
  const Value from = builder.value(layer.inputs[0]);
  const Type type = type_of(from.desc);
  if (!has_own_half(type) || !dense_strides(from.desc)) return false;
  const auto count = static_cast<std::size_t>(size_of(from.desc).count) / sizeof(kernels::Half);
  const auto loop = [function, count, kind = stored_number_of(type)](const OwnPlaces& at) {
    apply_to_halves(function, {reinterpret_cast<const kernels::Half*>(at.from), count},
                    reinterpret_cast<kernels::Half*>(at.to), kind);
  };
  builder.program().run_in_place({from, builder.make(layer.outputs[0], from.desc), loop},
                                 "functions");
  return true;
}

/// Nothing where there is no loop of ours, or where it falls.
std::optional<kernels::ElementFunction> element_function(const network::Unary& op) {
  const auto function = own_function(op);
  const bool falls = op.kind == network::UnaryKind::celu && !(op.alpha > 0);
  if (!function || falls) return std::nullopt;
  kernels::ElementFunction element{*function, static_cast<float>(op.alpha),
                                   static_cast<float>(op.beta)};
  if (op.kind == network::UnaryKind::relu) {
    element.alpha = 0;
    element.beta = std::numeric_limits<float>::infinity();
  }
  return element;
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
  const auto element = element_function(std::get<network::Unary>(layer.op));
  if (!element) return false;
  const Value now = builder.value(layer.inputs[0]);
  const Desc layout = dense_strides(now.desc) ? retyped(now.desc, Type::f32)
                                              : channels_last_desc(dims_of(now.desc));
  const Value from = builder.in_layout(layer.inputs[0], layout);
  const auto count = static_cast<std::size_t>(size_of(layout).count) / sizeof(float);
  const auto loop = [element = *element, count](const OwnPlaces& at) {
    apply(element, {reinterpret_cast<const float*>(at.from), count},
          reinterpret_cast<float*>(at.to));
  };
  builder.program().run_in_place({from, builder.make(layer.outputs[0], layout), loop}, "functions");
  return true;
}

bool lower_function_of_halves(Builder& builder, LayerId id) {
  const network::Layer& layer = builder.layer(id);
  const auto element = element_function(std::get<network::Unary>(layer.op));
  return element && run_on_halves(builder, layer, *element);
}

bool lower_pair_of_halves(Builder& builder, const Group& group) {
  if (!has_float16() && !has_bfloat16()) return false;
  const auto pairing = pairing_of(builder, group);
  const auto halves = pairing ? halves_of(builder, group) : std::nullopt;
  if (!halves) return false;
  const auto count =
      static_cast<std::size_t>(size_of(halves->layout).count) / sizeof(kernels::Half);
  OwnWork work{builder.in_layout(halves->a, halves->layout),
               builder.make(result_of(builder.network(), group), halves->layout),
               [pairing = *pairing, count, row = halves->row,
                kind = stored_number_of(type_of(halves->layout))](const OwnPlaces& at) {
                 const auto halves_at = [](const std::byte* place) {
                   return reinterpret_cast<const kernels::Half*>(place);
                 };
                 const kernels::HalfPair numbers{
                     {halves_at(at.from), count}, halves_at(at.others[0]), row, kind};
                 kernels::pair(pairing, numbers, reinterpret_cast<kernels::Half*>(at.to));
               }};
  work.others.push_back(builder.in_layout(halves->b, halves->of_b));
  builder.program().run_in_place(work, "pairs_of_halves");
  return true;
}

}  // namespace millrace::engine::onednn
