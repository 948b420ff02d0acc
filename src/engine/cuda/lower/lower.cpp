#include "engine/cuda/lower/lower.h"

#include "engine/cuda/lower/tail.h"

namespace millrace::engine::cuda {
namespace {

/// By the kind of operator.
struct Lowering {
  Builder& builder;
  const Group& group;

  void operator()(const network::Conv&) const { lower_convolution(builder, group); }
  void operator()(const network::ConvTranspose&) const { lower_transposed(builder, group); }
  void operator()(const network::Gemm&) const { lower_product(builder, group); }
  void operator()(const network::MatMul&) const { lower_product(builder, group); }
  void operator()(const network::BatchNormalization&) const { lower_elements(builder, group); }
  void operator()(const network::Unary&) const { lower_elements(builder, group); }
  void operator()(const network::Binary&) const { lower_elements(builder, group); }
  void operator()(const network::Cast&) const { lower_cast(builder, group.head); }
  void operator()(const network::Compare&) const { lower_compare(builder, group.head); }
  void operator()(const network::Where&) const { lower_where(builder, group.head); }
  void operator()(const network::Pool&) const { lower_pool(builder, group.head); }
  void operator()(const network::Lrn&) const { lower_lrn(builder, group.head); }
  void operator()(const network::Resize&) const { lower_resize(builder, group.head); }
  void operator()(const network::Reduce&) const { lower_reduce(builder, group.head); }
  void operator()(const network::Softmax&) const { lower_softmax(builder, group.head); }
  void operator()(const network::Normalization&) const { lower_normalization(builder, group.head); }
  void operator()(const network::ArgMax&) const { lower_arg_max(builder, group.head); }
  void operator()(const network::Reshape&) const { lower_reshape(builder, group.head); }
  void operator()(const network::Transpose&) const { lower_transpose(builder, group.head); }
  void operator()(const network::Slice&) const { lower_slice(builder, group.head); }
  void operator()(const network::Split&) const { lower_split(builder, group.head); }
  void operator()(const network::Concat&) const { lower_concat(builder, group.head); }
  void operator()(const network::Tile&) const { lower_tile(builder, group.head); }
  void operator()(const network::Pad&) const { lower_pad(builder, group.head); }
  void operator()(const network::DepthToSpace&) const { lower_depth_to_space(builder, group.head); }
  void operator()(const network::Gather&) const { lower_gather(builder, group.head); }
  /// Refused by can_lower().
  template <class Other>
  void operator()(const Other&) const {}
};

}  // namespace

bool accepts(const network::Network& network, const Group& group) {
  // A batch normalisation takes three operands by itself.
  const bool has_room =
      !std::holds_alternative<network::BatchNormalization>(network[group.head].op) ||
      group.tail.size() <= 1;
  const network::Tensor& head = network[network[group.head].outputs[0]];
  return has_room && head.type == network::DataType::float32 && fits_in_tail(network, group);
}

void lower(Builder& builder, const Group& group) {
  builder.begin_group(layers_of(group));
  std::visit(Lowering{builder, group}, builder.layer(group.head).op);
}

}  // namespace millrace::engine::cuda
