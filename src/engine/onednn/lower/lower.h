#pragma once
// Layers into steps, one file per family. Each function lowers its layer and says true, or changes
// nothing and says false: then the plain loops do it.
#include "engine/fusion.h"
#include "engine/onednn/builder.h"

namespace millrace::engine::onednn {

/// Adds the steps of a group. Choices depend on shapes, attributes and incoming layouts only.
void lower(Builder& builder, const Group& group);
/// Whether the group's head can take its tail without becoming slower.
bool accepts(Builder& builder, const Group& group);

/// Whether all its tensors are float32, of few dimensions, and not empty.
bool is_ordinary(const Builder& builder, LayerId id);

bool lower_convolution(Builder& builder, const Group& group);
bool accepts_convolution(Builder& builder, const Group& group);
/// The kernels that can run the layer alone, in the precision that the builder is told of; the
/// first choice first.
std::vector<std::string> convolution_algorithms(const Builder& builder, LayerId layer);

/// Gemm, and MatMul.
bool lower_product(Builder& builder, const Group& group);
bool accepts_product(Builder& builder, const Group& group);
/// Whether it has the variant split_on_tiles, in float32.
bool can_product_be_on_tiles(const Builder& builder, LayerId id);
/// Whether lower_direct() takes it, in float32, and in float16 where the processor has that.
bool can_product_be_direct(const Builder& builder, LayerId id);
/// MatMul, with what Fused::Kind::attention says.
bool is_attention(const Group& group);
bool lower_attention(Builder& builder, const Group& group);
bool accepts_attention(const Builder& builder, const Group& group);
/// Whether its head has the variant split_on_tiles.
bool can_attention_be_on_tiles(const Builder& builder, LayerId head);

bool lower_unary(Builder& builder, LayerId layer);
/// For a function of numbers that lie in 16 bits, on 64-bit ARM.
bool lower_function_of_halves(Builder& builder, LayerId layer);
bool lower_pair_of_halves(Builder& builder, const Group& group);
bool lower_binary(Builder& builder, const Group& group);
bool accepts_binary(Builder& builder, const Group& group);

bool lower_batch_normalization(Builder& builder, const Group& group);
bool accepts_batch_normalization(Builder& builder, const Group& group);
bool lower_lrn(Builder& builder, LayerId layer);
bool lower_softmax(Builder& builder, LayerId layer);

bool lower_pool(Builder& builder, LayerId layer);
bool lower_byte_pool(Builder& builder, LayerId layer);
bool lower_reduce(Builder& builder, LayerId layer);
bool lower_resize(Builder& builder, LayerId layer);

// By loops of our own, which read and write dense tensors.

/// A function that oneDNN has none of, or is slower at.
bool lower_function(Builder& builder, LayerId layer);
/// Whether oneDNN's function makes an ordinary number of NaN, and the loop here is as fast.
bool loses_nan(Builder& builder, LayerId layer);
/// Over the last dimensions, or the channels where they lie innermost.
bool lower_row_norm(Builder& builder, LayerId layer);
bool lower_row_softmax(Builder& builder, LayerId layer);
/// Or by lower_reduce(), where that has nothing to move.
bool lower_row_reduce(Builder& builder, LayerId layer);
/// Products of 8-bit integers: matrices, and convolutions whose weights are constants.
bool lower_byte_product(Builder& builder, LayerId layer);
bool lower_byte_convolution(Builder& builder, LayerId layer);
/// To and from 8-bit integers.
inline bool is_byte(network::DataType type) {
  return type == network::DataType::int8 || type == network::DataType::uint8;
}
bool lower_quantize(Builder& builder, LayerId layer);
bool lower_dequantize(Builder& builder, LayerId layer);
bool lower_dynamic_quantize(Builder& builder, LayerId layer);
/// QuantizeLinear behind DequantizeLinear, with functions of one number or a sum, difference or
/// product of two between them: one pass over the bytes.
bool lower_between_bytes(Builder& builder, LayerId layer);
/// Whether only such passes need what the layer makes, so that there is nothing to do for it.
bool vanishes_between_bytes(const Builder& builder, LayerId layer);
/// From integers to float32.
bool lower_cast(Builder& builder, LayerId layer);
/// For what lower_resize() refuses, and tensors that lie as this wants it.
bool lower_resampling(Builder& builder, LayerId layer);
bool lower_grid_sample(Builder& builder, LayerId layer);
bool lower_roi_align(Builder& builder, LayerId layer);
bool lower_recurrent(Builder& builder, LayerId layer);
bool lower_cumulation(Builder& builder, LayerId layer);
bool lower_arg_max(Builder& builder, LayerId layer);
/// Batch normalisation of a tensor whose channels lie one behind the other.
bool lower_planes(Builder& builder, const Group& group);

bool lower_reshape(Builder& builder, LayerId layer);
bool lower_transpose(Builder& builder, LayerId layer);
bool lower_concat(Builder& builder, LayerId layer);
/// Images of 8-bit integers.
bool lower_byte_concat(Builder& builder, LayerId layer);
bool lower_split(Builder& builder, LayerId layer);
bool lower_slice(Builder& builder, LayerId layer);

}  // namespace millrace::engine::onednn
