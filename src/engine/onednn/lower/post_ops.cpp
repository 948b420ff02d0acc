#include "engine/onednn/lower/post_ops.h"

#include <algorithm>
#include <limits>

#include "engine/onednn/ways.h"

namespace millrace::engine::onednn {
namespace {

using Algorithm = dnnl::algorithm;
using network::BinaryKind;
using network::UnaryKind;

float finite(double value) {
  constexpr double largest = std::numeric_limits<float>::max();
  return static_cast<float>(std::clamp(value, -largest, largest));
}

PostOp function(Algorithm algorithm, double alpha = 0, double beta = 0) {
  return {PostOp::Kind::eltwise, algorithm, finite(alpha), finite(beta), {}};
}

/// With ARM's SVE, oneDNN 2.6 computes hard swish and mish wrongly after a convolution.
bool is_wrong_when_fused(const Builder& builder, const Fused& fused) {
#if defined(__aarch64__)
  constexpr unsigned without_sve = 1;
  if (static_cast<unsigned>(dnnl::get_effective_cpu_isa()) <= without_sve) return false;
  if (fused.kind == Fused::Kind::hard_swish) return true;
  if (fused.kind != Fused::Kind::unary) return false;
  const auto kind = std::get<network::Unary>(builder.layer(fused.layers[0]).op).kind;
  return kind == UnaryKind::hard_swish || kind == UnaryKind::mish;
#else
  static_cast<void>(builder);
  static_cast<void>(fused);
  return false;
#endif
}

std::optional<PostOps> post_ops_of(const Builder& builder, const Fused& fused, const Dims& shape) {
  if (is_wrong_when_fused(builder, fused)) return std::nullopt;
  switch (fused.kind) {
    case Fused::Kind::unary:
      return functions_of(std::get<network::Unary>(builder.layer(fused.layers[0]).op));
    case Fused::Kind::swish:
      return PostOps{function(Algorithm::eltwise_swish, 1)};
    case Fused::Kind::hard_swish:
      return PostOps{function(Algorithm::eltwise_hardswish, 1. / 6, 0.5)};
    case Fused::Kind::residual:
      return PostOps{{PostOp::Kind::sum, {}, 0, 0, {}}};
    case Fused::Kind::attention:
      return std::nullopt;
    case Fused::Kind::binary:
      break;
  }
  const auto kind = std::get<network::Binary>(builder.layer(fused.layers[0]).op).kind;
  const auto algorithm = algorithm_of(kind);
  if (!algorithm) return std::nullopt;
  const Dims operand = with_rank(builder.tensor(fused.operand).shape, shape.size());
  return PostOps{{PostOp::Kind::binary, *algorithm, 0, 0, plain_desc(operand)}};
}

std::optional<kernels::Function> fused_function(const Builder& builder, const Fused& fused) {
  if (fused.kind == Fused::Kind::swish) return kernels::Function::swish;
  if (fused.kind != Fused::Kind::unary) return std::nullopt;
  const auto& op = std::get<network::Unary>(builder.layer(fused.layers[0]).op);
  // It makes one half of the zeros that fill up channels in some of oneDNN's layouts.
  return op.kind == UnaryKind::sigmoid ? std::nullopt : faster_function(op);
}

}  // namespace

std::optional<PostOps> functions_of(const network::Unary& unary) {
  switch (unary.kind) {
    case UnaryKind::relu:
      return PostOps{function(Algorithm::eltwise_relu)};
    case UnaryKind::leaky_relu:
      return PostOps{function(Algorithm::eltwise_relu, unary.alpha)};
    case UnaryKind::clip:
      if (!(unary.alpha <= unary.beta)) return std::nullopt;
      return PostOps{function(Algorithm::eltwise_clip, unary.alpha, unary.beta)};
    case UnaryKind::sigmoid:
      return PostOps{function(Algorithm::eltwise_logistic)};
    case UnaryKind::hard_sigmoid:
      return PostOps{function(Algorithm::eltwise_linear, unary.alpha, unary.beta),
                     function(Algorithm::eltwise_clip, 0, 1)};
    case UnaryKind::hard_swish:
      return PostOps{function(Algorithm::eltwise_hardswish, 1. / 6, 0.5)};
    case UnaryKind::tanh:
      return PostOps{function(Algorithm::eltwise_tanh)};
    case UnaryKind::elu:
      return PostOps{function(Algorithm::eltwise_elu, unary.alpha)};
    case UnaryKind::mish:
      return PostOps{function(Algorithm::eltwise_mish)};
    case UnaryKind::sqrt:
      return PostOps{function(Algorithm::eltwise_sqrt)};
    case UnaryKind::round:
      return PostOps{function(Algorithm::eltwise_round)};
    case UnaryKind::abs:
      return PostOps{function(Algorithm::eltwise_abs)};
    case UnaryKind::neg:
      return PostOps{function(Algorithm::eltwise_linear, -1, 0)};
    case UnaryKind::gelu:
      return PostOps{function(Algorithm::eltwise_gelu_erf)};
    case UnaryKind::gelu_tanh:
      return PostOps{function(Algorithm::eltwise_gelu_tanh)};
    case UnaryKind::swish:
      return PostOps{function(Algorithm::eltwise_swish, unary.alpha)};
    default:
      break;
  }
  return std::nullopt;
}

std::optional<dnnl::algorithm> algorithm_of(BinaryKind kind) {
  switch (kind) {
    case BinaryKind::add:
      return Algorithm::binary_add;
    case BinaryKind::sub:
      return Algorithm::binary_sub;
    case BinaryKind::mul:
      return Algorithm::binary_mul;
    case BinaryKind::div:
      return Algorithm::binary_div;
    case BinaryKind::max:
      return Algorithm::binary_max;
    case BinaryKind::min:
      return Algorithm::binary_min;
    default:
      break;
  }
  return std::nullopt;
}

std::optional<PostOps> post_ops_of(const Builder& builder, const Group& group, const Dims& shape) {
  PostOps all;
  for (const Fused& fused : group.tail) {
    const auto ops = post_ops_of(builder, fused, shape);
    if (!ops) return std::nullopt;
    all.insert(all.end(), ops->begin(), ops->end());
  }
  return all;
}

/// Without AVX-512, oneDNN's takes ten times as long as ours.
bool has_slow_tanh() {
#if defined(__x86_64__)
  return vector_lanes() < 16;
#else
  return false;
#endif
}

std::optional<kernels::Function> faster_function(const network::Unary& function) {
  if (function.kind == UnaryKind::tanh && has_slow_tanh()) return kernels::Function::tanh;
  if (function.kind == UnaryKind::mish) return kernels::Function::mish;
  if (function.kind == UnaryKind::sigmoid) return kernels::Function::sigmoid;
  const bool is_swish = function.kind == UnaryKind::swish && function.alpha == 1;
  return is_swish ? std::optional(kernels::Function::swish) : std::nullopt;
}

bool is_swish(const Builder& builder, const Fused& fused) {
  return fused_function(builder, fused) == kernels::Function::swish;
}

bool is_hard_swish(const Builder& builder, const Fused& fused) {
  if (fused.kind != Fused::Kind::unary) return fused.kind == Fused::Kind::hard_swish;
  const auto& function = std::get<network::Unary>(builder.layer(fused.layers[0]).op);
  return function.kind == UnaryKind::hard_swish;
}

std::optional<FunctionPass> function_pass_of(const Builder& builder, const Group& group) {
  if (builder.variant(group.head).precision != board::Precision::f32) return std::nullopt;
  FunctionPass pass;
  pass.before = group;
  auto& tail = pass.before.tail;
  if (tail.size() > 1 && tail.back().kind == Fused::Kind::residual) {
    pass.added = tail.back().operand;
    tail.pop_back();
  }
  const auto function = tail.empty() ? std::nullopt : fused_function(builder, tail.back());
  if (!function) return std::nullopt;
  pass.function = *function;
  tail.pop_back();
  return pass;
}

void run(Builder& builder, const Group& group, const FunctionPass& pass, const Value& from) {
  OwnWork work{from, builder.make(result_of(builder.network(), group), from.desc), {}};
  if (pass.added) work.others.push_back(builder.in_layout(*pass.added, from.desc));
  const auto count = static_cast<std::size_t>(size_of(from.desc).count) / sizeof(float);
  work.run = [count, function = pass.function](const OwnPlaces& at) {
    kernels::apply({function}, {reinterpret_cast<const float*>(at.from), count},
                   reinterpret_cast<float*>(at.to), reinterpret_cast<const float*>(at.others[0]));
  };
  builder.program().run_in_place(work, "functions");
}

std::vector<Operand> post_operands(Builder& builder, const Group& group, const Value& result) {
  return post_operands(builder, group, result, {dims_of(result.desc)});
}

std::vector<Operand> post_operands(Builder& builder, const Group& group, const Value& result,
                                   const Seen& seen) {
  std::vector<Operand> operands;
  int index = seen.before;
  for (const Fused& fused : group.tail) {
    if (fused.kind == Fused::Kind::residual) {
      Quantization in{type_of(result.desc), {}};
      if (is_quantized(result.desc)) in = builder.eight_bits().quantization(fused.operand);
      const Desc layout = retyped(result.desc, in.type);
      builder.program().copy_in_place(builder.in_layout(fused.operand, layout, in.encoding),
                                      result);
    } else if (fused.kind == Fused::Kind::binary) {
      const int argument = DNNL_ARG_ATTR_MULTIPLE_POST_OP(index) | DNNL_ARG_SRC_1;
      Value operand = builder.plain(fused.operand);
      operand.desc = plain_desc(with_rank(builder.tensor(fused.operand).shape, seen.shape.size()));
      operands.push_back({argument, operand});
    }
    index += static_cast<int>(post_ops_of(builder, fused, seen.shape)->size());
  }
  return operands;
}

Dims with_rank(const Dims& shape, std::size_t rank) {
  Dims result(rank > shape.size() ? rank - shape.size() : 0, 1);
  const std::size_t fewer = shape.size() > rank ? shape.size() - rank : 0;
  result.insert(result.end(), shape.begin() + static_cast<std::ptrdiff_t>(fewer), shape.end());
  return result;
}

}  // namespace millrace::engine::onednn
