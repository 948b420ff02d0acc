#pragma once
// Layers into steps, one file per family.
#include "base/verdict.h"
#include "engine/cuda/builder.h"
#include "engine/fusion.h"

namespace millrace::engine::cuda {

/// Whether there is a kernel for the layer's operator, types and sizes.
Verdict can_lower(const network::Network& network, LayerId layer);

/// Whether the group's head can take its tail.
bool accepts(const network::Network& network, const Group& group);

/// Adds the steps of a group. Precondition: can_lower for each layer, and accepts.
void lower(Builder& builder, const Group& group);

void lower_convolution(Builder& builder, const Group& group);
void lower_transposed(Builder& builder, const Group& group);
/// Gemm and MatMul.
void lower_product(Builder& builder, const Group& group);
/// Unary, Binary and BatchNormalization, with what follows.
void lower_elements(Builder& builder, const Group& group);
void lower_cast(Builder& builder, LayerId layer);
void lower_compare(Builder& builder, LayerId layer);
void lower_where(Builder& builder, LayerId layer);

void lower_pool(Builder& builder, LayerId layer);
void lower_lrn(Builder& builder, LayerId layer);
void lower_resize(Builder& builder, LayerId layer);
void lower_reduce(Builder& builder, LayerId layer);
/// The layer, as this reduction of its first input.
void reduce(Builder& builder, const network::Layer& layer, const network::Reduce& op);
void lower_softmax(Builder& builder, LayerId layer);
void lower_normalization(Builder& builder, LayerId layer);
void lower_arg_max(Builder& builder, LayerId layer);

void lower_reshape(Builder& builder, LayerId layer);
void lower_transpose(Builder& builder, LayerId layer);
void lower_slice(Builder& builder, LayerId layer);
void lower_split(Builder& builder, LayerId layer);
void lower_concat(Builder& builder, LayerId layer);
void lower_tile(Builder& builder, LayerId layer);
void lower_pad(Builder& builder, LayerId layer);
void lower_depth_to_space(Builder& builder, LayerId layer);
void lower_gather(Builder& builder, LayerId layer);

}  // namespace millrace::engine::cuda
