// Which layers have a kernel.
#include <fmt/format.h>

#include <algorithm>

#include "engine/cuda/lower/lower.h"
#include "network/evaluate/evaluate.h"
#include "network/operator_kinds.h"

namespace millrace::engine::cuda {
namespace {

using network::DataType;

/// What an operator's kernels take.
enum class Takes { nothing, float32, booleans, any, casts, compares };

struct TakesOf {
  Takes operator()(const network::Conv&) const { return Takes::float32; }
  Takes operator()(const network::ConvTranspose&) const { return Takes::float32; }
  Takes operator()(const network::Gemm&) const { return Takes::float32; }
  Takes operator()(const network::MatMul&) const { return Takes::float32; }
  Takes operator()(const network::BatchNormalization&) const { return Takes::float32; }
  Takes operator()(const network::Lrn&) const { return Takes::float32; }
  Takes operator()(const network::Pool&) const { return Takes::float32; }
  Takes operator()(const network::Resize&) const { return Takes::float32; }
  Takes operator()(const network::Softmax&) const { return Takes::float32; }
  Takes operator()(const network::Reduce&) const { return Takes::float32; }
  Takes operator()(const network::Normalization&) const { return Takes::float32; }
  Takes operator()(const network::ArgMax&) const { return Takes::float32; }
  Takes operator()(const network::Unary& op) const {
    return op.kind == network::UnaryKind::logical_not ? Takes::booleans : Takes::float32;
  }
  Takes operator()(const network::Binary& op) const {
    if (network::is_of_bits(op.kind)) return Takes::nothing;
    return network::is_logical(op.kind) ? Takes::booleans : Takes::float32;
  }
  Takes operator()(const network::Cast&) const { return Takes::casts; }
  Takes operator()(const network::Compare&) const { return Takes::compares; }
  Takes operator()(const network::Where&) const { return Takes::any; }
  Takes operator()(const network::Concat&) const { return Takes::any; }
  Takes operator()(const network::Split&) const { return Takes::any; }
  Takes operator()(const network::Slice&) const { return Takes::any; }
  Takes operator()(const network::Gather&) const { return Takes::any; }
  Takes operator()(const network::Tile&) const { return Takes::any; }
  Takes operator()(const network::Reshape&) const { return Takes::any; }
  Takes operator()(const network::Transpose&) const { return Takes::any; }
  Takes operator()(const network::Pad&) const { return Takes::any; }
  Takes operator()(const network::DepthToSpace&) const { return Takes::any; }
  template <class Other>
  Takes operator()(const Other&) const {
    return Takes::nothing;
  }
};

/// float64 and large integers lose digits on their way to float16 by way of float32.
bool can_cast(DataType from, DataType to) {
  const bool is_wide = from == DataType::float64 || network::size_of(from).count >= 4;
  return to != DataType::float16 || from == DataType::float32 || !is_wide;
}

bool fits(Takes takes, const network::Network& network, const network::Layer& layer) {
  const DataType from = network[layer.inputs[0]].type, to = network[layer.outputs[0]].type;
  const auto all_are = [&](DataType type) {
    return std::ranges::all_of(
        layer.inputs, [&](TensorId id) { return !id.valid() || network[id].type == type; });
  };
  switch (takes) {
    case Takes::float32:
      return all_are(DataType::float32);
    case Takes::booleans:
      return all_are(DataType::boolean);
    case Takes::compares:
      return from != DataType::uint64;
    case Takes::casts:
      return can_cast(from, to) && from != DataType::uint64 && to != DataType::uint64;
    case Takes::any:
      return true;
    default:
      return false;
  }
}

/// Positions in kernels have 32 bits, also those a few steps beyond the end.
constexpr std::int64_t most_elements = 2'000'000'000;
bool is_small(const network::Tensor& tensor) {
  const std::int64_t count = network::element_count(tensor.shape);
  return count > 0 && count <= most_elements && tensor.shape.size() <= max_dimensions;
}

Verdict check_sizes(const network::Network& network, const network::Layer& layer) {
  for (const auto* tensors : {&layer.inputs, &layer.outputs})
    for (const TensorId id : *tensors)
      if (id.valid() && !is_small(network[id]))
        return Verdict::no(fmt::format(
            "the engine cuda takes tensors of 1 to {} elements and at most {} dimensions, but '{}' "
            "is of shape {}",
            most_elements, max_dimensions, network[id].name, network::to_text(network[id].shape)));
  return Verdict::yes();
}

bool is_constant(const network::Network& network, const network::Layer& layer, std::size_t i) {
  return network[layer.inputs[i]].constant.has_value();
}

/// One number for each position in a row, or none.
bool spreads_along_rows(const network::Network& network, const network::Layer& layer,
                        std::size_t i) {
  if (i >= layer.inputs.size() || !layer.inputs[i].valid()) return true;
  const auto axis = static_cast<std::size_t>(std::get<network::Normalization>(layer.op).axis);
  const network::Shape& whole = network[layer.inputs[0]].shape;
  const network::Shape row(whole.begin() + static_cast<std::ptrdiff_t>(axis), whole.end());
  network::Shape own = network[layer.inputs[i]].shape;
  while (own.size() > row.size() && own.front() == 1) own.erase(own.begin());
  return own == row;
}

/// Kernels number tiles of 64 rows, and the batch, with 16 bits.
Verdict check_product(const network::Network& network, const network::Layer& layer) {
  constexpr std::int64_t most = 65535;
  const auto* gemm = std::get_if<network::Gemm>(&layer.op);
  const network::Shape& a = network[layer.inputs[0]].shape;
  const bool is_vector = a.size() == 1, is_turned = gemm != nullptr && gemm->transpose_a;
  const std::int64_t rows = is_vector ? 1 : is_turned ? a.back() : a[a.size() - 2];
  network::Shape batch = network[layer.outputs[0]].shape;
  const std::size_t columns = network[layer.inputs[1]].shape.size() == 1 ? 0 : 1;
  batch.resize(batch.size() - columns - (is_vector ? 0 : 1));
  if (rows <= 64 * most && network::element_count(batch) <= most) return Verdict::yes();
  return Verdict::no(
      fmt::format("the engine cuda takes products of at most {} rows in a batch of at most {}",
                  64 * most, most));
}

/// A dimension that is repeated is two to the kernel.
Verdict check_tile(const network::Network& network, const network::Layer& layer) {
  const network::Shape& in = network[layer.inputs[0]].shape;
  const network::Shape& out = network[layer.outputs[0]].shape;
  int dimensions = 0;
  for (std::size_t d = 0; d < in.size(); ++d)
    dimensions += (in[d] > 1 ? 1 : 0) + (out[d] > in[d] ? 1 : 0);
  if (dimensions <= max_dimensions) return Verdict::yes();
  return Verdict::no(fmt::format(
      "the engine cuda takes at most {} dimensions and repetitions of a Tile, but this has {}",
      max_dimensions, dimensions));
}

/// What only some attributes or operands of the operator allow.
Verdict check_operands(const network::Network& network, const network::Layer& layer) {
  if (std::holds_alternative<network::BatchNormalization>(layer.op))
    for (const std::size_t i : {1u, 2u, 3u, 4u})
      if (!is_constant(network, layer, i))
        return Verdict::no("the engine cuda takes batch normalisations with constant statistics");
  if (std::holds_alternative<network::Normalization>(layer.op) &&
      !(spreads_along_rows(network, layer, 1) && spreads_along_rows(network, layer, 2)))
    return Verdict::no("the engine cuda takes scale and bias of the shape that is normalised");
  if (network::is_product(layer.op)) return check_product(network, layer);
  if (std::holds_alternative<network::Tile>(layer.op)) return check_tile(network, layer);
  return Verdict::yes();
}

}  // namespace

Verdict can_lower(const network::Network& network, LayerId id) {
  const network::Layer& layer = network[id];
  const Takes takes = std::visit(TakesOf{}, layer.op);
  const std::string_view name = network::name_of(layer.op);
  if (takes == Takes::nothing)
    return Verdict::no(fmt::format("the engine cuda has no kernel for {}", name));
  if (const Verdict verdict = network::can_evaluate(network, id); !verdict) return verdict;
  if (!fits(takes, network, layer))
    return Verdict::no(fmt::format("the engine cuda has no kernel for {} of {}", name,
                                   network::to_text(network[layer.inputs[0]].type)));
  if (const Verdict verdict = check_sizes(network, layer); !verdict) return verdict;
  return check_operands(network, layer);
}

}  // namespace millrace::engine::cuda
