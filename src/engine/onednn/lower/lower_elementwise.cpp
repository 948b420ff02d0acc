// Functions of one element, and of two with broadcasting.
#include <algorithm>
#include <optional>

#include "engine/onednn/lower/lower.h"
#include "engine/onednn/lower/post_ops.h"
#include "engine/onednn/ways.h"

namespace millrace::engine::onednn {
namespace {

using network::BinaryKind;

struct Chain {
  Desc layout;
  std::vector<Kernel> kernels;
};

/// Kernels for the functions, one after the other, all fast; nothing if there are none.
std::optional<Chain> chain_of(const Builder& builder, const Desc& now, const PostOps& functions) {
  for (const Desc& layout : usual_layouts(now)) {
    Chain chain{layout, {}};
    for (const PostOp& function : functions)
      chain.kernels.push_back(eltwise(builder.engine(), layout, function));
    const auto fast = [](const Kernel& kernel) { return kernel && !kernel.is_slow(); };
    if (std::all_of(chain.kernels.begin(), chain.kernels.end(), fast)) return chain;
  }
  return std::nullopt;
}

bool lower_functions(Builder& builder, LayerId id, const PostOps& functions) {
  const network::Layer& layer = builder.layer(id);
  const auto chain = chain_of(builder, builder.value(layer.inputs[0]).desc, functions);
  if (!chain) return false;
  Value from = builder.in_layout(layer.inputs[0], chain->layout);
  for (std::size_t i = 0; i < chain->kernels.size(); ++i) {
    const bool last = i + 1 == chain->kernels.size();
    const Value to = last ? builder.make(layer.outputs[0], chain->layout)
                          : builder.program().make_temporary(chain->layout);
    builder.program().run_in_place(chain->kernels[i], {{DNNL_ARG_SRC, from}}, {{DNNL_ARG_DST, to}});
    from = to;
  }
  return true;
}

/// The operands in the order in which oneDNN is fast: only the second is broadcast.
struct Pair {
  TensorId a, b;
};

std::optional<Pair> pair_of(const Builder& builder, LayerId id) {
  const network::Layer& layer = builder.layer(id);
  const auto kind = std::get<network::Binary>(layer.op).kind;
  const auto& result = builder.tensor(layer.outputs[0]).shape;
  const Pair pair{layer.inputs[0], layer.inputs[1]};
  const auto whole = [&](TensorId t) { return builder.tensor(t).shape == result; };
  const bool commutes = kind != BinaryKind::sub && kind != BinaryKind::div &&
                        kind != BinaryKind::pow && kind != BinaryKind::prelu &&
                        kind != BinaryKind::mod && kind != BinaryKind::fmod;
  // A constant lies as the other operand wants it.
  if (commutes && whole(pair.b) && builder.tensor(pair.a).constant) return Pair{pair.b, pair.a};
  if (whole(pair.a)) return pair;
  if (commutes && whole(pair.b)) return Pair{pair.b, pair.a};
  return std::nullopt;
}

struct BinaryChoice {
  Desc a, b;
  Kernel kernel;
  bool flat = false;  // the kernel takes all for rows of numbers, however they lie
};

bool same_shape(const Builder& builder, const Pair& pair) {
  return builder.tensor(pair.a).shape == builder.tensor(pair.b).shape;
}

/// Then channels are the innermost dimension and the one before it at once, and oneDNN takes them
/// for the wrong one of the two where the tail has an operand by channel.
bool has_one_pixel(const Builder& builder, LayerId id) {
  const network::Shape& shape = builder.tensor(builder.layer(id).outputs[0]).shape;
  return shape.size() > 2 &&
         std::all_of(shape.begin() + 2, shape.end(), [](auto n) { return n == 1; });
}
bool has_operand(const Builder& builder, const Group& group) {
  return std::any_of(group.tail.begin(), group.tail.end(), [&](const Fused& fused) {
    return fused.kind == Fused::Kind::binary &&
           network::element_count(builder.tensor(fused.operand).shape) > 1;
  });
}

/// For two tensors in blocks of channels, with anything after it, oneDNN's kernel leaves the last
/// results undone where the channels do not fill the processor's vectors.
bool leaves_some_undone(const Builder& builder, const Group& group, const Pair& pair,
                        const Desc& layout) {
#if defined(__x86_64__)
  const auto lanes = static_cast<std::int64_t>(vector_lanes());
#else
  constexpr std::int64_t lanes = 16;  // what its kernels take there is not known
#endif
  const auto blocking = blocking_of(layout);
  return !group.tail.empty() && same_shape(builder, pair) && blocking &&
         std::ranges::any_of(blocking->blocked, [&](std::int64_t dimension) {
           return blocking->shape[static_cast<std::size_t>(dimension)] % lanes != 0;
         });
}

/// Without gaps, in whatever order.
bool is_dense(const Desc& desc) {
  const Dims count{network::element_count(dims_of(desc))};
  return !is_padded(desc) && size_of(desc) == size_of(row_major_desc(count, type_of(desc)));
}

/// A choice for operands that kernels do not know as they lie, or nothing if they know them. One
/// number is the same wherever it goes.
std::optional<BinaryChoice> choose_flat(Builder& builder, const Group& group, const Pair& pair,
                                        const Desc& now) {
  const auto algorithm = algorithm_of(std::get<network::Binary>(builder.layer(group.head).op).kind);
  const bool same = same_shape(builder, pair);
  const bool single = network::element_count(builder.tensor(pair.b).shape) == 1;
  if (suits_two_operands(now) && !leaves_some_undone(builder, group, pair, now))
    return std::nullopt;
  if (!is_dense(now) || !algorithm || !(same || single) || has_operand(builder, group))
    return std::nullopt;
  const Dims count{network::element_count(builder.tensor(pair.a).shape)};
  const auto post_ops = post_ops_of(builder, group, count);
  if (!post_ops) return std::nullopt;
  for (const Desc& layout : usual_layouts(now)) {
    if (!same_memory(retyped(layout, type_of(now)), now)) continue;  // only as it lies
    const Desc row = row_major_desc(count, type_of(layout)), b = same ? row : plain_desc({1});
    Kernel kernel = binary(builder.engine(), {*algorithm, row, b, row}, *post_ops);
    if (kernel && !kernel.is_slow()) return BinaryChoice{layout, same ? layout : b, kernel, true};
  }
  return std::nullopt;
}

std::optional<BinaryChoice> choose(Builder& builder, const Group& group, const Pair& pair) {
  const auto kind = std::get<network::Binary>(builder.layer(group.head).op).kind;
  const auto algorithm = algorithm_of(kind);
  const network::Shape& shape = builder.tensor(pair.a).shape;
  const auto post_ops = post_ops_of(builder, group, shape);
  if (!algorithm || !post_ops || shape.empty()) return std::nullopt;
  const bool same = same_shape(builder, pair);
  Desc now = builder.value(pair.a).desc;
  if (same && is_row_major(now)) now = builder.value(pair.b).desc;
  if (auto flat = choose_flat(builder, group, pair, now)) return flat;
  for (const Desc& usual : usual_layouts(now)) {
    if (!suits_two_operands(usual) || leaves_some_undone(builder, group, pair, usual)) continue;
    const Desc layout = with_usual_strides(usual);
    const Dims other = with_rank(builder.tensor(pair.b).shape, shape.size());
    const Desc b = same ? layout : plain_desc(other);
    Kernel kernel = binary(builder.engine(), {*algorithm, layout, b, layout}, *post_ops);
    if (kernel && !kernel.is_slow()) return BinaryChoice{layout, b, kernel};
  }
  return std::nullopt;
}

Value operand_in(Builder& builder, TensorId id, const Desc& layout) {
  if (dims_of(layout) == builder.tensor(id).shape) return builder.in_layout(id, layout);
  Value value = builder.plain(id);
  value.desc = layout;
  return value;
}

bool lower_prelu(Builder& builder, LayerId id) {
  const network::Layer& layer = builder.layer(id);
  const network::Shape& shape = builder.tensor(layer.outputs[0]).shape;
  if (shape.empty() || builder.tensor(layer.inputs[0]).shape != shape) return false;
  const Dims slopes = with_rank(builder.tensor(layer.inputs[1]).shape, shape.size());
  for (const Desc& usual : usual_layouts(builder.value(layer.inputs[0]).desc)) {
    if (!suits_two_operands(usual)) continue;
    const Desc layout = with_usual_strides(usual);
    const Kernel kernel = prelu(builder.engine(), layout, any_desc(slopes));
    if (!kernel || kernel.is_slow()) continue;
    const Value source = builder.in_layout(layer.inputs[0], layout);
    const Packing packing{plain_desc(slopes), kernel.operand(DNNL_ARG_WEIGHTS)};
    const Value weights = builder.in_layout(layer.inputs[1], packing);
    const Value result = builder.make(layer.outputs[0], layout);
    builder.program().run(kernel, {{DNNL_ARG_SRC, source}, {DNNL_ARG_WEIGHTS, weights}},
                          {{DNNL_ARG_DST, result}});
    return true;
  }
  return false;
}

/// To a constant power of one number.
bool lower_power(Builder& builder, LayerId id) {
  const network::Layer& layer = builder.layer(id);
  const network::Tensor& exponent = builder.tensor(layer.inputs[1]);
  const bool one_number =
      exponent.constant && network::element_count(exponent.shape) == 1 &&
      builder.tensor(layer.inputs[0]).shape == builder.tensor(layer.outputs[0]).shape;
  if (!one_number) return false;
  const float value = exponent.constant->values<float>()[0];
  const PostOp power{PostOp::Kind::eltwise, dnnl::algorithm::eltwise_pow, 1.f, value, {}};
  return lower_functions(builder, id, {power});
}

}  // namespace

bool lower_unary(Builder& builder, LayerId layer) {
  const auto functions = functions_of(std::get<network::Unary>(builder.layer(layer).op));
  return functions && lower_functions(builder, layer, *functions);
}

bool accepts_binary(Builder& builder, const Group& group) {
  const auto is_residual = [](const Fused& f) { return f.kind == Fused::Kind::residual; };
  if (std::any_of(group.tail.begin(), group.tail.end(), is_residual)) return false;
  if (has_one_pixel(builder, group.head) && has_operand(builder, group)) return false;
  const network::Layer& layer = builder.layer(group.head);
  const auto pair = pair_of(builder, group.head);
  if (!pair) return false;
  const auto algorithm = algorithm_of(std::get<network::Binary>(layer.op).kind);
  const network::Shape& shape = builder.tensor(pair->a).shape;
  const auto post_ops = post_ops_of(builder, group, shape);
  if (!algorithm || !post_ops || shape.empty()) return false;
  // Asked before layouts are known: both that kernels know must do.
  const Dims other = with_rank(builder.tensor(pair->b).shape, shape.size());
  for (const Desc& layout : {plain_desc(shape), channels_last_desc(shape)}) {
    const Desc b = same_shape(builder, *pair) ? layout : plain_desc(other);
    const Kernel kernel = binary(builder.engine(), {*algorithm, layout, b, layout}, *post_ops);
    if (!kernel || kernel.is_slow()) return false;
  }
  return true;
}

bool lower_binary(Builder& builder, const Group& group) {
  const network::Layer& layer = builder.layer(group.head);
  const auto kind = std::get<network::Binary>(layer.op).kind;
  if (kind == BinaryKind::pow) return lower_power(builder, group.head);
  if (kind == BinaryKind::prelu) return lower_prelu(builder, group.head);
  const auto pair = pair_of(builder, group.head);
  if (!pair) return false;
  const auto choice = choose(builder, group, *pair);
  if (!choice) return false;
  const auto viewed = [&](Value value) {
    const Dims count{network::element_count(dims_of(value.desc))};
    if (choice->flat) value.desc = row_major_desc(count, type_of(value.desc));
    return value;
  };
  std::vector<Operand> reads{{DNNL_ARG_SRC_0, viewed(operand_in(builder, pair->a, choice->a))},
                             {DNNL_ARG_SRC_1, viewed(operand_in(builder, pair->b, choice->b))}};
  const Value result = viewed(builder.make(result_of(builder.network(), group), choice->a));
  const auto more = post_operands(builder, group, result);
  reads.insert(reads.end(), more.begin(), more.end());
  builder.program().run_in_place(choice->kernel, reads, {{DNNL_ARG_DST, result}});
  return true;
}

}  // namespace millrace::engine::onednn
