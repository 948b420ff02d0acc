#pragma once
// Convolutions and products with what is fused into them, on direct_convolution.h and
// matrix_product.h, where oneDNN has its reference loops only.
#include "engine/fusion.h"
#include "engine/onednn/builder.h"
#include "engine/onednn/lower/convolution_parts.h"

namespace millrace::engine::onednn {

/// Whether the layer's variant asks for it.
bool is_direct(const Builder& builder, LayerId id);
/// Whether it knows the layer's precision: float32, and on 64-bit ARM float16 and bfloat16.
bool computes_direct(const Builder& builder, LayerId id);
/// Whether the layer allows it, in the layer's precision: not transposed, and with constant weights
/// but in float32.
bool can_be_direct(const Builder& builder, LayerId id);

/// Whether it takes the group's tail.
bool accepts_direct(const Builder& builder, const Group& group);
/// As lower_convolution.
bool lower_direct(Builder& builder, const Group& group);

/// The same for products with constant matrices.
bool accepts_direct(const Builder& builder, const Group& group, const ConstantProduct& product);
bool lower_direct(Builder& builder, const Group& group, const ConstantProduct& product);

/// The same for products of two computed tensors, in float32: result = alpha a b + bias, as
/// matrices or stacks of them, each read through a view of its plain memory: (..., M, K),
/// (..., K, N) and (..., M, N).
struct ComputedProduct {
  TensorId a, b, bias;  // bias: by column; may be invalid
  Desc a_view, b_view, result_view;
  float alpha = 1;
};

bool accepts_direct(const Builder& builder, const Group& group, const ComputedProduct& product);
bool lower_direct(Builder& builder, const Group& group, const ComputedProduct& product);

}  // namespace millrace::engine::onednn
