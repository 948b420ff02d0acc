// Products of queries and keys, their softmax, and products with values, as one loop of ours.
#include <algorithm>
#include <cmath>
#include <optional>

#include "engine/onednn/lower/lower.h"
#include "engine/onednn/lower/lower_amx.h"
#include "engine/onednn/ways.h"
#include "kernels/amx/amx_attention.h"

namespace millrace::engine::onednn {
namespace {

using network::BinaryKind;
using network::Shape;

/// With fewer queries the keys are not worth packing; wider ones leave no room for those at once.
constexpr std::int64_t fewest_rows = 16;
constexpr std::int64_t widest = 512;
/// By which queries may be multiplied in place of products, once or twice.
constexpr double largest_factor = 1e4;

/// What the layers between the products do.
struct AttentionParts {
  TensorId query, key, value, mask;  // no mask: invalid
  double factor = 1;
};

/// By which number it multiplies this tensor, if that is none of the largest or smallest.
std::optional<double> factor_of(const Builder& builder, const network::Layer& layer,
                                TensorId tensor) {
  const BinaryKind kind = std::get<network::Binary>(layer.op).kind;
  const bool first = layer.inputs[0] == tensor;
  const network::Tensor& other = builder.tensor(layer.inputs[first ? 1 : 0]);
  if (!other.constant || network::element_count(other.shape) != 1) return std::nullopt;
  if (kind != BinaryKind::mul && !(kind == BinaryKind::div && first)) return std::nullopt;
  const double number{other.constant->values<float>()[0]};
  const bool ordinary =
      std::abs(number) <= largest_factor && std::abs(number) >= 1 / largest_factor;
  if (!ordinary) return std::nullopt;
  return kind == BinaryKind::mul ? number : 1 / number;
}

std::optional<AttentionParts> parts_of(const Builder& builder, const Group& group) {
  const Fused& fused = group.tail.front();
  const network::Layer& head = builder.layer(group.head);
  AttentionParts parts{head.inputs[0], head.inputs[1], fused.operand, TensorId(), 1};
  TensorId now = head.outputs[0];
  for (const LayerId id : fused.layers) {
    const network::Layer& layer = builder.layer(id);
    const auto* const binary = std::get_if<network::Binary>(&layer.op);
    if (binary == nullptr) break;
    const TensorId other = layer.inputs[layer.inputs[0] == now ? 1 : 0];
    if (parts.mask.valid()) return std::nullopt;
    const Shape& shape = builder.tensor(now).shape;
    if (binary->kind == BinaryKind::add &&
        network::broadcast(builder.tensor(other).shape, shape) == shape) {
      parts.mask = other;
    } else if (const auto factor = factor_of(builder, layer, now)) {
      parts.factor *= *factor;
    } else {
      return std::nullopt;
    }
    now = layer.outputs[0];
  }
  return parts;
}

Shape without_matrix(const Shape& shape) { return {shape.begin(), shape.end() - 2}; }

/// As it lies, if that has no blocks or gaps.
Value readable(Builder& builder, TensorId id) {
  const Value now = builder.value(id);
  return type_of(now.desc) == Type::f32 && dense_strides(now.desc) ? now : builder.plain(id);
}

/// Where the matrices of a dense tensor lie, one for each index of `stack`.
kernels::MatrixPlaces places_of(const Desc& desc, const Shape& stack) {
  const std::size_t rank = stack.size() + 2;
  const Dims shape = dims_of(desc), known = *dense_strides(desc);
  Dims strides(rank, 0);
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (shape[d] != 1) strides[rank - shape.size() + d] = known[d];
  kernels::MatrixPlaces places{{0}, strides[rank - 2], strides[rank - 1]};
  for (std::size_t d = 0; d < stack.size(); ++d) {
    std::vector<std::ptrdiff_t> begins;
    for (const std::ptrdiff_t begin : places.begins)
      for (std::int64_t i = 0; i < stack[d]; ++i) begins.push_back(begin + i * strides[d]);
    places.begins = std::move(begins);
  }
  return places;
}

/// As a transposition that alone reads it wants it, so that there is nothing to move.
Desc layout_of(const Builder& builder, TensorId id) {
  const Shape& shape = builder.tensor(id).shape;
  const auto& readers = builder.topology().consumers[id.index];
  if (builder.is_output(id) || readers.size() != 1) return plain_desc(shape);
  const auto* const turn = std::get_if<network::Transpose>(&builder.layer(readers[0]).op);
  if (turn == nullptr || turn->permutation.size() != shape.size()) return plain_desc(shape);
  Dims strides(shape.size());
  std::int64_t stride = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    const auto from = static_cast<std::size_t>(turn->permutation[i]);
    strides[from] = stride;
    stride *= shape[from];
  }
  return with_usual_strides(strided_desc(shape, strides));
}

bool is_float32(const Builder& builder, LayerId id) {
  return type_of(builder, id) == Type::f32 && !is_int8(builder, id);
}

/// Cores share rows and matrices, not keys; each packs the keys that it needs.
bool keeps_cores_busy(const Builder& builder, const Shape& products) {
  const Shape stack = without_matrix(products);
  kernels::Attention sizes;
  sizes.rows = static_cast<std::size_t>(products[products.size() - 2]);
  sizes.keys = static_cast<std::size_t>(products.back());
  sizes.query.begins.resize(static_cast<std::size_t>(network::element_count(stack)));
  return builder.cores() <= 1 || blocks_of(sizes) >= 2 * builder.cores();
}

}  // namespace

bool is_attention(const Group& group) {
  return group.tail.size() == 1 && group.tail.front().kind == Fused::Kind::attention;
}

bool accepts_attention(const Builder& builder, const Group& group) {
  const auto parts = parts_of(builder, group);
  const LayerId last = group.tail.front().layers.back();
  if (!parts || !is_float32(builder, group.head) || !is_float32(builder, last)) return false;
  const Shape& products = builder.tensor(builder.layer(group.head).outputs[0]).shape;
  const Shape& result = builder.tensor(group.tail.front().result).shape;
  const Shape& query = builder.tensor(parts->query).shape;
  for (const TensorId id : {parts->query, parts->key, parts->value})
    if (builder.tensor(id).shape.size() < 2 || builder.tensor(id).shape.size() > products.size())
      return false;
  return result.size() == products.size() && without_matrix(result) == without_matrix(products) &&
         products[products.size() - 2] >= fewest_rows && query.back() <= widest &&
         result.back() <= widest && keeps_cores_busy(builder, products);
}

bool can_attention_be_on_tiles(const Builder& builder, LayerId head) {
  if (!has_amx() || !is_ordinary(builder, head)) return false;
  const network::Network& network = builder.network();
  std::vector<LayerId> layers;
  for (std::size_t i = 0; i < network.layers.size(); ++i) layers.push_back(LayerId(i));
  const auto accepted = [&](const Group& group) { return accepts_attention(builder, group); };
  return attention_led_by({&network, layers, network.outputs}, head, accepted).has_value();
}

bool lower_attention(Builder& builder, const Group& group) {
  const auto parts = parts_of(builder, group);
  if (!parts) return false;
  const bool on_amx = is_on_tiles(builder, group.head);
  if (on_amx) check_tiles(builder.layer(group.head), has_amx());
  const TensorId id = group.tail.front().result;
  const Shape& products = builder.tensor(builder.layer(group.head).outputs[0]).shape;
  const Shape stack = without_matrix(products);
  OwnWork work{readable(builder, parts->query), {}, {}};
  work.others = {readable(builder, parts->key), readable(builder, parts->value)};
  if (parts->mask.valid()) work.others.push_back(readable(builder, parts->mask));
  const auto size = [](const Shape& shape, std::size_t from_end) {
    return static_cast<std::size_t>(shape[shape.size() - from_end]);
  };
  kernels::Attention attention;
  attention.rows = size(products, 2);
  attention.keys = size(products, 1);
  attention.depth = size(builder.tensor(parts->query).shape, 1);
  attention.width = size(builder.tensor(id).shape, 1);
  attention.factor = static_cast<float>(parts->factor);
  attention.query = places_of(work.from.desc, stack);
  attention.key = places_of(work.others[0].desc, stack);
  attention.value = places_of(work.others[1].desc, stack);
  if (parts->mask.valid()) attention.mask = places_of(work.others[2].desc, stack);
  const Desc layout = layout_of(builder, id);
  attention.result = places_of(layout, stack);
  const std::size_t threads = builder.cores();
  const std::size_t working =
      on_amx ? working_numbers_on_tiles(attention, threads) : working_numbers(attention, threads);
  work.working = builder.program().make_temporary(plain_desc({static_cast<std::int64_t>(working)}));
  work.to = builder.make(id, layout);
  work.run = [attention, threads, on_amx](const OwnPlaces& at) {
    const auto floats = [](const std::byte* data) { return reinterpret_cast<const float*>(data); };
    const kernels::AttentionOperands operands{floats(at.from),
                                              floats(at.others[0]),
                                              floats(at.others[1]),
                                              floats(at.others[2]),
                                              reinterpret_cast<float*>(at.to),
                                              reinterpret_cast<float*>(at.working)};
    on_amx ? attend_on_tiles(attention, operands, threads) : attend(attention, operands, threads);
  };
  builder.program().run(work, on_amx ? "attention_amx_bf16x3" : "attention");
  return true;
}

}  // namespace millrace::engine::onednn
