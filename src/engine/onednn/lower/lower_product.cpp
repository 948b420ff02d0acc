// Gemm and MatMul. A constant second factor is packed and goes through the inner product; at batch
// 1 packing is worth a factor of 1.2 to 4 over reading the weights as they are.
#include <algorithm>
#include <optional>

#include "engine/onednn/lower/lower.h"
#include "engine/onednn/lower/lower_amx.h"
#include "engine/onednn/lower/lower_direct.h"
#include "engine/onednn/lower/lower_integers.h"
#include "engine/onednn/lower/post_ops.h"
#include "engine/onednn/ways.h"

namespace millrace::engine::onednn {
namespace {

using network::Shape;

/// Gemm and MatMul alike: result = alpha a b + beta c, as matrices, or stacks of them.
struct Product {
  TensorId a, b, c;
  Desc a_view, b_view;  // how their plain memory is read: (..., M, K) and (..., K, N)
  Desc result_view;
  float alpha = 1, beta = 1;
  bool packs = false;  // b is a constant matrix and a lies row by row
};

/// Dimensions and strides of the last two exchanged.
Desc turned(const Desc& view) {
  Dims dims = dims_of(view), strides = *dense_strides(view);
  std::swap(dims[dims.size() - 1], dims[dims.size() - 2]);
  std::swap(strides[dims.size() - 1], strides[dims.size() - 2]);
  return strided_desc(dims, strides);
}

Product product_of(const Builder& builder, LayerId id, const network::Gemm& gemm) {
  const network::Layer& layer = builder.layer(id);
  Product p;
  p.a = layer.inputs[0];
  p.b = layer.inputs[1];
  if (layer.inputs.size() > 2) p.c = layer.inputs[2];
  const Desc a = plain_desc(builder.tensor(p.a).shape), b = plain_desc(builder.tensor(p.b).shape);
  p.a_view = gemm.transpose_a ? turned(a) : a;
  p.b_view = gemm.transpose_b ? turned(b) : b;
  p.result_view = plain_desc(builder.tensor(layer.outputs[0]).shape);
  p.alpha = gemm.alpha;
  p.beta = gemm.beta;
  p.packs = !gemm.transpose_a && builder.tensor(p.b).constant.has_value();
  return p;
}

/// A vector counts as a matrix of one row (left) or one column (right).
Product product_of(const Builder& builder, LayerId id, const network::MatMul&) {
  const network::Layer& layer = builder.layer(id);
  Product p;
  p.a = layer.inputs[0];
  p.b = layer.inputs[1];
  Shape a = builder.tensor(p.a).shape, b = builder.tensor(p.b).shape;
  if (a.size() == 1) a.insert(a.begin(), 1);
  if (b.size() == 1) b.push_back(1);
  p.packs = b.size() == 2 && builder.tensor(p.b).constant.has_value();
  if (p.packs && a.size() > 2) {
    std::int64_t rows = 1;
    for (std::size_t d = 0; d + 1 < a.size(); ++d) rows *= a[d];
    a = {rows, a.back()};
  }
  const std::size_t rank = std::max(a.size(), b.size());
  a = with_rank(a, rank);
  b = with_rank(b, rank);
  Shape result(rank);
  for (std::size_t d = 0; d + 2 < rank; ++d) result[d] = std::max(a[d], b[d]);
  result[rank - 2] = a[rank - 2];
  result[rank - 1] = b[rank - 1];
  p.a_view = plain_desc(a);
  p.b_view = plain_desc(b);
  p.result_view = plain_desc(result);
  return p;
}

Product product_of(const Builder& builder, LayerId id) {
  const network::Operator& op = builder.layer(id).op;
  if (const auto* gemm = std::get_if<network::Gemm>(&op)) return product_of(builder, id, *gemm);
  return product_of(builder, id, std::get<network::MatMul>(op));
}

/// Whether the addend has one number per column.
bool is_row(const Builder& builder, const Product& p) {
  const Shape& shape = builder.tensor(p.c).shape;
  return !shape.empty() && shape.back() == dims_of(p.result_view).back() &&
         std::all_of(shape.begin(), shape.end() - 1, [](auto n) { return n == 1; });
}

/// One number per column, which the kernels add for nothing.
bool is_bias(const Builder& builder, const Product& p) {
  if (!p.c.valid() || !is_row(builder, p)) return false;
  const bool scales = p.beta == 1.f || builder.tensor(p.c).constant.has_value();
  return scales && (p.packs || p.alpha == 1.f);
}

/// What comes before the fused tail: the scale and the addend that the kernel does not take.
std::optional<PostOps> own_post_ops(const Builder& builder, const Product& p) {
  PostOps ops;
  if (p.alpha != 1.f && !p.packs)
    ops.push_back({PostOp::Kind::eltwise, dnnl::algorithm::eltwise_linear, p.alpha, 0, {}});
  if (!p.c.valid() || is_bias(builder, p)) return ops;
  const network::Tensor& c = builder.tensor(p.c);
  if (p.beta != 1.f && !c.constant) return std::nullopt;
  const Desc addend = plain_desc(with_rank(c.shape, dims_of(p.result_view).size()));
  ops.push_back({PostOp::Kind::binary, dnnl::algorithm::binary_add, 0, 0, addend});
  return ops;
}

Dims swapped(const Dims& matrix) { return {matrix[1], matrix[0]}; }

struct Choice {
  Kernel kernel;
  PostOps own;
  std::vector<float> weights;  // scales by column, in int8
  Encoding source = {};        // in int8
};

/// `source`: how the first factor lies already, if it lies in 8 bits and that is known.
std::optional<Choice> choose(const Builder& builder, const Product& p, const Group& group,
                             const std::optional<Quantization>& source = std::nullopt) {
  const auto own = own_post_ops(builder, p);
  const Dims result = dims_of(p.result_view);
  const auto fused = post_ops_of(builder, group, result);
  if (!own || !fused) return std::nullopt;
  PostOps all = *own;
  all.insert(all.end(), fused->begin(), fused->end());
  const Type type = type_of(builder, group.head);
  ProductSpec spec{retyped(p.a_view, type), retyped(p.b_view, type), {}, p.result_view};
  if (p.packs) spec.weights = any_desc(swapped(dims_of(p.b_view)), type);
  Choice choice;
  choice.own = *own;
  if (is_int8(builder, group.head)) {
    if (!has_exact_bytes() || !p.packs || p.alpha != 1.f || !builder.tensor(p.b).constant)
      return std::nullopt;
    const Quantization q = source ? *source : builder.eight_bits().quantization(p.a, group.head);
    choice.source = q.encoding;
    choice.weights = channel_scales(*builder.tensor(p.b).constant, turned(p.b_view), 1);
    spec.source = retyped(p.a_view, q.type);
    spec.weights = any_desc(swapped(dims_of(p.b_view)), Type::s8);
    for (const float scale : choice.weights) spec.scales.push_back(q.encoding.scale * scale);
  }
  if (is_bias(builder, p) && p.packs) spec.bias = plain_desc({result.back()});
  if (is_bias(builder, p) && !p.packs)
    spec.bias = plain_desc(with_rank({result.back()}, result.size()));
  choice.kernel = p.packs ? inner_product(builder.engine(), spec, all)
                          : matrix_product(builder.engine(), spec, all);
  if (!choice.kernel || choice.kernel.is_slow()) return std::nullopt;
  return choice;
}

/// One value per column is known to be taken rightly by products of two matrices only.
bool takes_operands(const Builder& builder, const Product& p, const Group& group) {
  const bool matrices = dims_of(p.result_view).size() == 2;
  return std::all_of(group.tail.begin(), group.tail.end(), [&](const Fused& fused) {
    return fused.kind != Fused::Kind::binary || matrices ||
           network::element_count(builder.tensor(fused.operand).shape) == 1;
  });
}

Value viewed(Value value, const Desc& view) {
  value.desc = view;
  return value;
}

/// The tensor's row-major memory, in the type of the view, read through it.
Value read_through(Builder& builder, TensorId id, const Desc& view, const Encoding& encoding = {}) {
  const Desc layout = row_major_desc(builder.tensor(id).shape, type_of(view));
  return viewed(builder.in_layout(id, layout, encoding), view);
}

/// What the packed weights and the bias are multiplied with.
Scales weight_factors(const Product& p, const Choice& choice) {
  Scales scales{{p.alpha}, 0};
  if (choice.weights.empty()) return scales;
  scales = {{}, 1};
  for (const float scale : choice.weights) scales.factors.push_back(1 / scale);
  return scales;
}
Scales addend_factors(const Product& p, const Choice& choice) {
  Scales scales = choice.kernel.bias;
  for (float& factor : scales.factors) factor *= p.beta;
  return scales;
}

std::vector<Operand> factors(Builder& builder, const Product& p, const Choice& choice) {
  const Desc a = choice.kernel.operand(DNNL_ARG_SRC), b = choice.kernel.operand(DNNL_ARG_WEIGHTS);
  std::vector<Operand> reads{
      {DNNL_ARG_SRC, read_through(builder, p.a, retyped(p.a_view, type_of(a)), choice.source)}};
  if (p.packs) {
    const Packing packing{turned(p.b_view), b, weight_factors(p, choice)};
    reads.push_back({DNNL_ARG_WEIGHTS, builder.in_layout(p.b, packing)});
  } else {
    reads.push_back({DNNL_ARG_WEIGHTS, read_through(builder, p.b, retyped(p.b_view, type_of(b)))});
  }
  if (!p.c.valid()) return reads;
  const bool bias = is_bias(builder, p);
  const int index = static_cast<int>(choice.own.size()) - 1;
  const int argument =
      bias ? DNNL_ARG_BIAS : DNNL_ARG_ATTR_MULTIPLE_POST_OP(index) | DNNL_ARG_SRC_1;
  const Desc view = bias ? choice.kernel.operand(DNNL_ARG_BIAS) : choice.own.back().operand;
  const Scales scales = bias ? addend_factors(p, choice) : Scales{{p.beta}, 0};
  reads.push_back({argument, builder.in_layout(p.c, Packing{view, view, scales})});
  return reads;
}

/// Nothing if it does more than tiles do.
std::optional<ConstantProduct> constant_product(const Builder& builder, const Product& p) {
  const bool adds_bias = p.c.valid() && p.beta == 1.f && is_bias(builder, p) &&
                         builder.tensor(p.c).constant.has_value();
  if (!p.packs || p.alpha != 1.f || (p.c.valid() && !adds_bias)) return std::nullopt;
  const Dims result = dims_of(p.result_view);
  std::size_t rows = 1;
  for (std::size_t d = 0; d + 1 < result.size(); ++d) rows *= static_cast<std::size_t>(result[d]);
  return ConstantProduct{p.a, p.b, p.c, rows, turned(p.b_view)};
}

/// Nothing if it adds more than a number for each column.
std::optional<ComputedProduct> computed_product(const Builder& builder, const Product& p) {
  if (p.packs || (p.c.valid() && (!is_row(builder, p) || p.beta != 1.f))) return std::nullopt;
  return ComputedProduct{p.a, p.b, p.c, p.a_view, p.b_view, p.result_view, p.alpha};
}

/// By loops of ours, where oneDNN has none for the product alone but its reference.
bool accepts_instead(const Builder& builder, const Product& p, const Group& group) {
  if (const auto computed = computed_product(builder, p))
    return accepts_direct(builder, group, *computed) &&
           (is_direct(builder, group.head) || !choose(builder, p, {group.head, {}}));
  const auto constant = constant_product(builder, p);
  if (constant && is_int8(builder, group.head)) return accepts_quads(builder, group, *constant);
  if (!constant || !computes_direct(builder, group.head)) return false;
  if (!accepts_direct(builder, group, *constant)) return false;
  return is_direct(builder, group.head) || !choose(builder, p, {group.head, {}});
}
bool lower_instead(Builder& builder, const Product& p, const Group& group) {
  if (const auto computed = computed_product(builder, p))
    return lower_direct(builder, group, *computed);
  const auto constant = constant_product(builder, p);
  if (!constant) return false;
  return lower_quads(builder, group, *constant) || lower_direct(builder, group, *constant);
}

}  // namespace

bool can_product_be_on_tiles(const Builder& builder, LayerId id) {
  if (!has_amx() || !is_ordinary(builder, id)) return false;
  const auto tiles = constant_product(builder, product_of(builder, id));
  return tiles && can_be_on_tiles(*tiles);
}

bool can_product_be_direct(const Builder& builder, LayerId id) {
  return is_ordinary(builder, id) && constant_product(builder, product_of(builder, id));
}

bool accepts_product(Builder& builder, const Group& group) {
  const Product p = product_of(builder, group.head);
  if (const auto tiles = constant_product(builder, p); tiles && is_on_tiles(builder, group.head))
    return accepts_on_tiles(builder, group, *tiles);
  if (is_direct(builder, group.head)) return accepts_instead(builder, p, group);
  if (takes_operands(builder, p, group) && choose(builder, p, group)) return true;
  return accepts_instead(builder, p, group);
}

bool lower_product(Builder& builder, const Group& group) {
  const Product p = product_of(builder, group.head);
  if (const auto tiles = constant_product(builder, p); tiles && is_on_tiles(builder, group.head))
    return lower_on_tiles(builder, group, *tiles);
  if (is_direct(builder, group.head)) return lower_instead(builder, p, group);
  const Value now = builder.value(p.a);
  std::optional<Quantization> source;
  if (is_quantized(now.desc) && now.encoding.zero == 0)
    source = Quantization{type_of(now.desc), now.encoding};
  const auto choice = choose(builder, p, group, source);
  if (!choice) return lower_instead(builder, p, group);
  auto reads = factors(builder, p, *choice);
  const TensorId id = result_of(builder.network(), group);
  const Value result = builder.make(id, plain_desc(builder.tensor(id).shape));
  const Seen seen{dims_of(p.result_view), static_cast<int>(choice->own.size())};
  const auto more = post_operands(builder, group, result, seen);
  reads.insert(reads.end(), more.begin(), more.end());
  builder.program().run(choice->kernel, reads, {{DNNL_ARG_DST, viewed(result, p.result_view)}});
  return true;
}

}  // namespace millrace::engine::onednn
