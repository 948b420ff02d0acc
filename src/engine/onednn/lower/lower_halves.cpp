// Sums and products of two tensors in float16, on 64-bit ARM, where oneDNN has none.
#include <algorithm>
#include <optional>

#include "engine/onednn/lower/convolution_parts.h"
#include "engine/onednn/lower/lower.h"
#include "engine/onednn/lower/post_ops.h"
#include "kernels/half/half_elements.h"

namespace millrace::engine::onednn {
namespace {

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

/// Nothing unless one lies in float16 already, in a layout without gaps.
std::optional<Halves> halves_of(Builder& builder, const Group& group) {
  const network::Layer& layer = builder.layer(group.head);
  const network::Shape& result = builder.tensor(layer.outputs[0]).shape;
  Halves halves{layer.inputs[0], layer.inputs[1], {}, {}};
  if (builder.tensor(halves.a).shape != result) std::swap(halves.a, halves.b);
  if (builder.tensor(halves.a).shape != result) return std::nullopt;
  const network::Shape& other = builder.tensor(halves.b).shape;
  if (other == result && type_of(builder.value(halves.a).desc) != Type::f16)
    std::swap(halves.a, halves.b);
  halves.layout = builder.value(halves.a).desc;
  if (type_of(halves.layout) != Type::f16 || !dense_strides(halves.layout)) return std::nullopt;
  halves.of_b = halves.layout;
  if (other == result) return halves;
  if (!is_by_channel(other, result)) return std::nullopt;
  halves.layout = channels_last_desc(result, Type::f16);
  halves.of_b = row_major_desc(other, Type::f16);
  halves.row = static_cast<std::size_t>(result[1]);
  return halves;
}

}  // namespace

bool lower_pair_of_halves(Builder& builder, const Group& group) {
  if (!kernels::has_half_products()) return false;
  const auto pairing = pairing_of(builder, group);
  const auto halves = pairing ? halves_of(builder, group) : std::nullopt;
  if (!halves) return false;
  const auto count =
      static_cast<std::size_t>(size_of(halves->layout).count) / sizeof(kernels::Half);
  OwnWork work{builder.in_layout(halves->a, halves->layout),
               builder.make(result_of(builder.network(), group), halves->layout),
               [pairing = *pairing, count, row = halves->row](const OwnPlaces& at) {
                 const auto halves_at = [](const std::byte* place) {
                   return reinterpret_cast<const kernels::Half*>(place);
                 };
                 kernels::pair(pairing, {{halves_at(at.from), count}, halves_at(at.others[0]), row},
                               reinterpret_cast<kernels::Half*>(at.to));
               }};
  work.others.push_back(builder.in_layout(halves->b, halves->of_b));
  builder.run_in_place(work, "pairs_of_halves");
  return true;
}

}  // namespace millrace::engine::onednn
