#pragma once
// Elementwise functions as oneDNN knows them, alone and on the result of another primitive.
#include <optional>
#include <vector>

#include "engine/fusion.h"
#include "engine/onednn/builder.h"
#include "engine/onednn/primitives/primitives.h"
#include "kernels/plain/functions.h"

namespace millrace::engine::onednn {

/// One after the other they compute the function; nothing if oneDNN has none like it.
std::optional<PostOps> functions_of(const network::Unary& unary);
/// Nothing for pow and prelu, which are no binary primitives.
std::optional<dnnl::algorithm> algorithm_of(network::BinaryKind kind);

/// What a group's tail does, on a result of this shape.
std::optional<PostOps> post_ops_of(const Builder& builder, const Group& group, const Dims& shape);
/// The function by loops of our own, if oneDNN takes up to twice their time for it.
std::optional<kernels::Function> faster_function(const network::Unary& function);
bool is_swish(const Builder& builder, const Fused& fused);
bool is_hard_swish(const Builder& builder, const Fused& fused);

/// What such a loop does to the float32 results of a kernel: a function, and a residual added to
/// that.
struct FunctionPass {
  Group before;  // what is left for the kernel
  kernels::Function function = {};
  std::optional<TensorId> added;
};
/// Nothing if the tail does not end so, or in another precision.
std::optional<FunctionPass> function_pass_of(const Builder& builder, const Group& group);
/// `from`: what the kernel made, dense.
void run(Builder& builder, const Group& group, const FunctionPass& pass, const Value& from);

/// The operands of these post-ops; and a residual is copied to where the result will be, unless
/// its place can be shared.
std::vector<Operand> post_operands(Builder& builder, const Group& group, const Value& result);
/// The same where the kernel sees the result in another shape, as a matrix, and does `before` other
/// post-ops first.
struct Seen {
  Dims shape;
  int before = 0;
};
std::vector<Operand> post_operands(Builder& builder, const Group& group, const Value& result,
                                   const Seen& seen);
/// The shape with more or fewer ones in front, for so many dimensions.
Dims with_rank(const Dims& shape, std::size_t rank);

}  // namespace millrace::engine::onednn
