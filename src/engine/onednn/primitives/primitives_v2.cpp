// For oneDNN 2.x, where a primitive is made from an operation descriptor.
#include <utility>

#include "engine/onednn/primitives/choice.h"

namespace millrace::engine::onednn {
namespace {

constexpr auto inference = dnnl::prop_kind::forward_inference;

void append(dnnl::post_ops& ops, const PostOp& op) {
  switch (op.kind) {
    case PostOp::Kind::eltwise:
      ops.append_eltwise(1.f, op.algorithm, op.alpha, op.beta);
      break;
    case PostOp::Kind::binary:
      ops.append_binary(op.algorithm, op.operand);
      break;
    case PostOp::Kind::sum:
      ops.append_sum(op.scale, op.type);
      break;
  }
}

dnnl::primitive_attr attributes(const PostOps& post_ops, const std::vector<float>& scales = {}) {
  constexpr int by_channel = 1 << 1;
  dnnl::primitive_attr result;
  if (!scales.empty()) result.set_output_scales(by_channel, scales);
  result.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  dnnl::post_ops ops;
  for (const PostOp& op : post_ops) append(ops, op);
  result.set_post_ops(ops);
  return result;
}

/// Whether the kernels run these as they are written: they keep the parameters of functions under
/// the name of the algorithm, so that two functions of one algorithm run with the same ones.
bool are_kept_apart(const PostOps& post_ops) {
  for (const PostOp& a : post_ops)
    for (const PostOp& b : post_ops)
      if (a.kind == PostOp::Kind::eltwise && b.kind == a.kind && a.algorithm == b.algorithm &&
          (a.alpha != b.alpha || a.beta != b.beta))
        return false;
  return true;
}

/// The whole way from a descriptor's arguments to the kernel; an argument that oneDNN refuses is
/// the same answer as a kernel that it lacks.
template <class Primitive, class... Arguments>
Kernel choose(const dnnl::engine& engine, const dnnl::primitive_attr& attributes,
              Arguments&&... arguments) try {
  const typename Primitive::desc descriptor(std::forward<Arguments>(arguments)...);
  return kernel_of(typename Primitive::primitive_desc(descriptor, attributes, engine, true));
} catch (const dnnl::error& error) {
  if (error.status == dnnl_out_of_memory) throw;
  return {};
}

dnnl::convolution_forward::desc convolution_descriptor(const ConvolutionSpec& s,
                                                       dnnl::algorithm algorithm) {
  if (s.bias.is_zero())
    return {inference, algorithm,   s.source,     s.weights, s.destination,
            s.strides, s.dilations, s.pads_begin, s.pads_end};
  return {inference,     algorithm, s.source,    s.weights,    s.bias,
          s.destination, s.strides, s.dilations, s.pads_begin, s.pads_end};
}

dnnl::deconvolution_forward::desc deconvolution_descriptor(const ConvolutionSpec& s) {
  const auto direct = dnnl::algorithm::deconvolution_direct;
  if (s.bias.is_zero())
    return {inference, direct,      s.source,     s.weights, s.destination,
            s.strides, s.dilations, s.pads_begin, s.pads_end};
  return {inference,     direct,    s.source,    s.weights,    s.bias,
          s.destination, s.strides, s.dilations, s.pads_begin, s.pads_end};
}

/// The choices look into the descriptor, which must outlive them.
template <class Descriptor>
bool visit_all(const Descriptor& descriptor, const dnnl::primitive_attr& attributes,
               const dnnl::engine& engine, const Visit& visit) {
  dnnl::primitive_desc choice(&descriptor.data, &attributes, engine, nullptr, true);
  if (!choice) return false;
  do {
    if (visit(kernel_of(choice))) return true;
  } while (choice.next_impl());
  return false;
}

}  // namespace

bool visit_kernels(const dnnl::engine& engine, const Question& question, const Visit& visit) {
  const ConvolutionSpec& spec = question.spec;
  if (!are_kept_apart(question.post_ops)) return false;
  const auto attr = attributes(question.post_ops, spec.scales);
  if (spec.transposed) return visit_all(deconvolution_descriptor(spec), attr, engine, visit);
  return visit_all(convolution_descriptor(spec, question.algorithm), attr, engine, visit);
}

/// The bias is added to the sums of integers, before they are scaled.
Kernel scaled(Kernel kernel, const std::vector<float>& scales, float rescaling) {
  if (scales.empty()) return kernel;
  kernel.bias = {{}, 1};
  for (const float scale : scales) kernel.bias.factors.push_back(rescaling / scale);
  return kernel;
}

Kernel inner_product(const dnnl::engine& engine, const ProductSpec& s, const PostOps& post_ops) {
  using Product = dnnl::inner_product_forward;
  if (!are_kept_apart(post_ops)) return {};
  const auto attr = attributes(post_ops, s.scales);
  if (s.bias.is_zero())
    return scaled(choose<Product>(engine, attr, inference, s.source, s.weights, s.destination),
                  s.scales, 1);
  return scaled(
      choose<Product>(engine, attr, inference, s.source, s.weights, s.bias, s.destination),
      s.scales, 1);
}

Kernel matrix_product(const dnnl::engine& engine, const ProductSpec& s, const PostOps& post_ops) {
  if (!are_kept_apart(post_ops)) return {};
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
                                                   spec.epsilon, flags);
}

Kernel lrn(const dnnl::engine& engine, const LrnSpec& s) {
  return choose<dnnl::lrn_forward>(engine, attributes({}), inference,
                                   dnnl::algorithm::lrn_across_channels, s.source, s.size, s.alpha,
                                   s.beta, s.bias);
}

Kernel pooling(const dnnl::engine& engine, const PoolingSpec& s) {
  return choose<dnnl::pooling_forward>(engine, attributes({}), inference, s.algorithm, s.source,
                                       s.destination, s.strides, s.kernel, s.pads_begin,
                                       s.pads_end);
}

Kernel eltwise(const dnnl::engine& engine, const Desc& source, const PostOp& function) {
  return choose<dnnl::eltwise_forward>(engine, attributes({}), inference, function.algorithm,
                                       source, function.alpha, function.beta);
}

Kernel binary(const dnnl::engine& engine, const BinarySpec& s, const PostOps& post_ops) {
  if (!are_kept_apart(post_ops)) return {};
  return choose<dnnl::binary>(engine, attributes(post_ops), s.algorithm, s.a, s.b, s.destination);
}

Kernel prelu(const dnnl::engine& engine, const Desc& source, const Desc& slopes) {
  return choose<dnnl::prelu_forward>(engine, attributes({}), inference, source, slopes);
}

Kernel concat(const dnnl::engine& engine, int axis, const std::vector<Desc>& sources) try {
  return kernel_of(dnnl::concat::primitive_desc(axis, sources, engine, attributes({})));
} catch (const dnnl::error& error) {
  if (error.status == dnnl_out_of_memory) throw;
  return {};
}

Kernel softmax(const dnnl::engine& engine, const Desc& source, int axis, bool logarithm) {
  if (logarithm)
    return choose<dnnl::logsoftmax_forward>(engine, attributes({}), inference, source, axis);
  return choose<dnnl::softmax_forward>(engine, attributes({}), inference, source, axis);
}

Kernel resampling(const dnnl::engine& engine, dnnl::algorithm algorithm, const Desc& source,
                  const Desc& destination) {
  return choose<dnnl::resampling_forward>(engine, attributes({}), inference, algorithm, source,
                                          destination);
}

Kernel reorder(const dnnl::engine& engine, const Desc& from, const Desc& to, const Scales& scales) {
  dnnl::primitive_attr attr = attributes({});
  if (!scales.change_nothing()) attr.set_output_scales((1 << scales.leading) - 1, scales.factors);
  return kernel_of(dnnl::reorder::primitive_desc(engine, from, engine, to, attr, true));
}

}  // namespace millrace::engine::onednn
