#include "engine/onednn/lower/lower.h"

#include <algorithm>

#include "base/error.h"
#include "engine/onednn/lower/post_ops.h"
#include "network/operator_kinds.h"

namespace millrace::engine::onednn {
namespace {

/// oneDNN's descriptors have at most this many dimensions; and what is empty is left to the loops.
bool is_ordinary(const network::Tensor& tensor) {
  return tensor.type == network::DataType::float32 && tensor.shape.size() <= 6 &&
         std::all_of(tensor.shape.begin(), tensor.shape.end(), [](auto n) { return n > 0; });
}

struct Lower {
  Builder& builder;
  const Group& group;

  bool operator()(const network::Conv&) const { return lower_convolution(builder, group); }
  bool operator()(const network::ConvTranspose&) const { return lower_convolution(builder, group); }
  bool operator()(const network::Gemm&) const { return lower_product(builder, group); }
  bool operator()(const network::MatMul&) const {
    return is_attention(group) ? lower_attention(builder, group) : lower_product(builder, group);
  }
  bool operator()(const network::BatchNormalization&) const {
    return lower_planes(builder, group) || lower_batch_normalization(builder, group);
  }
  bool operator()(const network::Lrn&) const { return lower_lrn(builder, group.head); }
  bool operator()(const network::Pool&) const { return lower_pool(builder, group.head); }
  bool operator()(const network::Unary& function) const {
    if (vanishes_between_bytes(builder, group.head) ||
        lower_function_of_halves(builder, group.head))
      return true;
    const bool own = faster_function(function) || loses_nan(builder, group.head);
    return (!own && lower_unary(builder, group.head)) || lower_function(builder, group.head);
  }
  bool operator()(const network::Binary&) const {
    return vanishes_between_bytes(builder, group.head) || lower_pair_of_halves(builder, group) ||
           lower_binary(builder, group);
  }
  bool operator()(const network::Concat&) const { return lower_concat(builder, group.head); }
  bool operator()(const network::Split&) const { return lower_split(builder, group.head); }
  bool operator()(const network::Slice&) const { return lower_slice(builder, group.head); }
  bool operator()(const network::Reshape&) const { return lower_reshape(builder, group.head); }
  bool operator()(const network::Transpose&) const { return lower_transpose(builder, group.head); }
  bool operator()(const network::Resize&) const {
    return lower_resampling(builder, group.head) || lower_resize(builder, group.head);
  }
  bool operator()(const network::Softmax&) const {
    return lower_row_softmax(builder, group.head) || lower_softmax(builder, group.head);
  }
  bool operator()(const network::Reduce&) const { return lower_row_reduce(builder, group.head); }
  bool operator()(const network::Normalization&) const {
    return lower_row_norm(builder, group.head);
  }
  template <class Operator>
  bool operator()(const Operator&) const {
    return false;
  }
};

struct Accept {
  Builder& builder;
  const Group& group;

  bool operator()(const network::Conv&) const { return accepts_convolution(builder, group); }
  bool operator()(const network::ConvTranspose&) const {
    return accepts_convolution(builder, group);
  }
  bool operator()(const network::Gemm&) const { return accepts_product(builder, group); }
  bool operator()(const network::MatMul&) const {
    return is_attention(group) ? accepts_attention(builder, group)
                               : accepts_product(builder, group);
  }
  bool operator()(const network::BatchNormalization&) const {
    return accepts_batch_normalization(builder, group);
  }
  bool operator()(const network::Binary&) const { return accepts_binary(builder, group); }
  template <class Operator>
  bool operator()(const Operator&) const {
    return false;
  }
};

/// What reads or makes integers.
struct LowerOthers {
  Builder& builder;
  LayerId layer;

  bool operator()(const network::Pool&) const { return lower_byte_pool(builder, layer); }
  bool operator()(const network::Concat&) const { return lower_byte_concat(builder, layer); }
  bool operator()(const network::ArgMax&) const { return lower_arg_max(builder, layer); }
  bool operator()(const network::GridSample&) const { return lower_grid_sample(builder, layer); }
  bool operator()(const network::RoiAlign&) const { return lower_roi_align(builder, layer); }
  bool operator()(const network::Recurrent&) const { return lower_recurrent(builder, layer); }
  bool operator()(const network::CumSum&) const { return lower_cumulation(builder, layer); }
  bool operator()(const network::Cast&) const { return lower_cast(builder, layer); }
  bool operator()(const network::MatMulInteger&) const {
    return lower_byte_product(builder, layer);
  }
  bool operator()(const network::QLinearMatMul&) const {
    return lower_byte_product(builder, layer);
  }
  bool operator()(const network::ConvInteger&) const {
    return lower_byte_convolution(builder, layer);
  }
  bool operator()(const network::QLinearConv&) const {
    return lower_byte_convolution(builder, layer);
  }
  bool operator()(const network::QuantizeLinear&) const { return lower_quantize(builder, layer); }
  bool operator()(const network::DequantizeLinear&) const {
    return lower_dequantize(builder, layer);
  }
  bool operator()(const network::DynamicQuantizeLinear&) const {
    return lower_dynamic_quantize(builder, layer);
  }
  template <class Operator>
  bool operator()(const Operator&) const {
    return false;
  }
};

bool lower_others(Builder& builder, const Group& group) {
  return group.tail.empty() &&
         std::visit(LowerOthers{builder, group.head}, builder.layer(group.head).op);
}

/// Other integers and shapes may lie anywhere: the same memory under another name.
bool is_reshape(const Builder& builder, LayerId id) {
  return network::is_reshape(builder.layer(id).op);
}

}  // namespace

bool is_ordinary(const Builder& builder, LayerId id) {
  const auto check = [&](TensorId tensor) {
    return !tensor.valid() || is_ordinary(builder.tensor(tensor));
  };
  const network::Layer& layer = builder.layer(id);
  return std::all_of(layer.inputs.begin(), layer.inputs.end(), check) &&
         std::all_of(layer.outputs.begin(), layer.outputs.end(), check);
}

void lower(Builder& builder, const Group& group) {
  builder.program().begin_group(layers_of(group));
  const network::Layer& layer = builder.layer(group.head);
  const bool lowered = ((is_ordinary(builder, group.head) || is_reshape(builder, group.head)) &&
                        std::visit(Lower{builder, group}, layer.op)) ||
                       lower_others(builder, group);
  if (!lowered && !group.tail.empty())
    throw EngineError(layer.name + ": oneDNN refuses what it accepted before");
  if (!lowered) loops(builder, group.head);
  builder.end_group();
}

bool accepts(Builder& builder, const Group& group) {
  const auto ordinary = [&](LayerId id) { return is_ordinary(builder, id); };
  const auto layers = layers_of(group);
  if (!std::all_of(layers.begin(), layers.end(), ordinary)) return false;
  return std::visit(Accept{builder, group}, builder.layer(group.head).op);
}

}  // namespace millrace::engine::onednn
