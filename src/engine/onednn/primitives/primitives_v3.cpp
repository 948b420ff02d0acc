// For oneDNN 3.x, where a primitive is chosen from its arguments at once, and what sums of integers
// are multiplied with is given to the kernel with each run.
#include <utility>

#include "engine/onednn/primitives/choice.h"

namespace millrace::engine::onednn {
namespace {

constexpr auto inference = dnnl::prop_kind::forward_inference;

void append(dnnl::post_ops& ops, const PostOp& op) {
  switch (op.kind) {
    case PostOp::Kind::eltwise:
      ops.append_eltwise(op.algorithm, op.alpha, op.beta);
      break;
    case PostOp::Kind::binary:
      ops.append_binary(op.algorithm, op.operand);
      break;
    case PostOp::Kind::sum:
      ops.append_sum(op.scale, 0, op.type);
      break;
  }
}

dnnl::primitive_attr attributes(const PostOps& post_ops) {
  dnnl::primitive_attr result;
  result.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  dnnl::post_ops ops;
  for (const PostOp& op : post_ops) append(ops, op);
  result.set_post_ops(ops);
  return result;
}

/// The same, with scales by output channel: by the first dimension of the weights, or the first two
/// where the first numbers groups of channels.
template <class Spec>
dnnl::primitive_attr attributes(const PostOps& post_ops, const Spec& spec) {
  dnnl::primitive_attr result = attributes(post_ops);
  const bool grouped = dims_of(spec.weights).size() > dims_of(spec.source).size();
  if (!spec.scales.empty()) result.set_scales_mask(DNNL_ARG_WEIGHTS, grouped ? 0b11 : 0b01);
  return result;
}

/// An argument that oneDNN refuses is the same answer as a kernel that it lacks.
template <class Primitive, class... Arguments>
Kernel choose(const dnnl::engine& engine, const dnnl::primitive_attr& attributes,
              Arguments&&... arguments) try {
  return kernel_of(typename Primitive::primitive_desc(engine, std::forward<Arguments>(arguments)...,
                                                      attributes, true));
} catch (const dnnl::error& error) {
  if (error.status == dnnl_out_of_memory) throw;
  return {};
}

template <class Primitive>
bool visit_kernels_of(const dnnl::engine& engine, const Question& question, const Visit& visit) {
  const ConvolutionSpec& s = question.spec;
  const auto attr = attributes(question.post_ops, s);
  using Choice = typename Primitive::primitive_desc;
  Choice choice =
      s.bias.is_zero()
          ? Choice(engine, inference, question.algorithm, s.source, s.weights, s.destination,
                   s.strides, s.dilations, s.pads_begin, s.pads_end, attr, true)
          : Choice(engine, inference, question.algorithm, s.source, s.weights, s.bias,
                   s.destination, s.strides, s.dilations, s.pads_begin, s.pads_end, attr, true);
  if (!choice) return false;
  do {
    if (visit(kernel_of(choice))) return true;
  } while (choice.next_impl());
  return false;
}

}  // namespace

bool visit_kernels(const dnnl::engine& engine, const Question& question, const Visit& visit) {
  Question transposed = question;
  transposed.algorithm = dnnl::algorithm::deconvolution_direct;
  if (question.spec.transposed)
    return visit_kernels_of<dnnl::deconvolution_forward>(engine, transposed, visit);
  return visit_kernels_of<dnnl::convolution_forward>(engine, question, visit);
}

/// The bias is added to what is scaled already.
Kernel scaled(Kernel kernel, const std::vector<float>& scales, float rescaling) {
  if (!kernel || scales.empty()) return kernel;
  kernel.bias = {{rescaling}, 0};
  kernel.given_scales = {DNNL_ARG_ATTR_SCALES | DNNL_ARG_WEIGHTS, scales};
  return kernel;
}

Kernel inner_product(const dnnl::engine& engine, const ProductSpec& s, const PostOps& post_ops) {
  using Product = dnnl::inner_product_forward;
  const auto attr = attributes(post_ops, s);
  if (s.bias.is_zero())
    return scaled(choose<Product>(engine, attr, inference, s.source, s.weights, s.destination),
                  s.scales, 1);
  return scaled(
      choose<Product>(engine, attr, inference, s.source, s.weights, s.bias, s.destination),
      s.scales, 1);
}

Kernel matrix_product(const dnnl::engine& engine, const ProductSpec& s, const PostOps& post_ops) {
  const auto attr = attributes(post_ops);
  if (s.bias.is_zero())
    return choose<dnnl::matmul>(engine, attr, s.source, s.weights, s.destination);
  return choose<dnnl::matmul>(engine, attr, s.source, s.weights, s.bias, s.destination);
}

Kernel batch_normalization(const dnnl::engine& engine, const NormalizationSpec& spec) {
  using Flags = dnnl::normalization_flags;
  Flags flags = Flags::use_global_stats | Flags::use_scale | Flags::use_shift;
  if (spec.relu) flags = flags | Flags::fuse_norm_relu;
  return choose<dnnl::batch_normalization_forward>(engine, attributes({}), inference, spec.source,
                                                   spec.source, spec.epsilon, flags);
}

Kernel lrn(const dnnl::engine& engine, const LrnSpec& s) {
  return choose<dnnl::lrn_forward>(engine, attributes({}), inference,
                                   dnnl::algorithm::lrn_across_channels, s.source, s.source, s.size,
                                   s.alpha, s.beta, s.bias);
}

Kernel pooling(const dnnl::engine& engine, const PoolingSpec& s) {
  const Dims dense(s.kernel.size(), 0);
  return choose<dnnl::pooling_forward>(engine, attributes({}), inference, s.algorithm, s.source,
                                       s.destination, s.strides, s.kernel, dense, s.pads_begin,
                                       s.pads_end);
}

Kernel eltwise(const dnnl::engine& engine, const Desc& source, const PostOp& function) {
  return choose<dnnl::eltwise_forward>(engine, attributes({}), inference, function.algorithm,
                                       source, source, function.alpha, function.beta);
}

Kernel binary(const dnnl::engine& engine, const BinarySpec& s, const PostOps& post_ops) {
  return choose<dnnl::binary>(engine, attributes(post_ops), s.algorithm, s.a, s.b, s.destination);
}

Kernel prelu(const dnnl::engine& engine, const Desc& source, const Desc& slopes) {
  return choose<dnnl::prelu_forward>(engine, attributes({}), inference, source, slopes, source);
}

Kernel concat(const dnnl::engine& engine, int axis, const std::vector<Desc>& sources) try {
  return kernel_of(dnnl::concat::primitive_desc(engine, axis, sources, attributes({})));
} catch (const dnnl::error& error) {
  if (error.status == dnnl_out_of_memory) throw;
  return {};
}

Kernel softmax(const dnnl::engine& engine, const Desc& source, int axis, bool logarithm) {
  const auto algorithm =
      logarithm ? dnnl::algorithm::softmax_log : dnnl::algorithm::softmax_accurate;
  return choose<dnnl::softmax_forward>(engine, attributes({}), inference, algorithm, source, source,
                                       axis);
}

Kernel resampling(const dnnl::engine& engine, dnnl::algorithm algorithm, const Desc& source,
                  const Desc& destination) {
  return choose<dnnl::resampling_forward>(engine, attributes({}), inference, algorithm, source,
                                          destination);
}

Kernel reorder(const dnnl::engine& engine, const Desc& from, const Desc& to, const Scales& scales) {
  dnnl::primitive_attr attr = attributes({});
  const bool scales_any = !scales.change_nothing();
  if (scales_any) attr.set_scales_mask(DNNL_ARG_FROM, (1 << scales.leading) - 1);
  Kernel kernel = kernel_of(dnnl::reorder::primitive_desc(engine, from, engine, to, attr, true));
  if (scales_any) kernel.given_scales = {DNNL_ARG_ATTR_SCALES | DNNL_ARG_FROM, scales.factors};
  return kernel;
}

}  // namespace millrace::engine::onednn
