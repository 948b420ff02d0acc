// For oneDNN 3.x, where a primitive is chosen from its arguments at once, and what sums of integers
// are multiplied with is given to the kernel with each run.
#include "engine/onednn/primitives/choice.h"

namespace millrace::engine::onednn {
namespace {

/// With scales by output channel: by the first dimension of the weights, or the first two
/// where the first numbers groups of channels.
template <class Spec>
dnnl::primitive_attr scaled_attributes(const PostOps& post_ops, const Spec& spec) {
  dnnl::primitive_attr result = attributes(post_ops);
  const bool grouped = dims_of(spec.weights).size() > dims_of(spec.source).size();
  if (!spec.scales.empty()) result.set_scales_mask(DNNL_ARG_WEIGHTS, grouped ? 0b11 : 0b01);
  return result;
}

template <class Primitive>
bool visit_kernels_of(const dnnl::engine& engine, const Question& question, const Visit& visit) {
  const ConvolutionSpec& s = question.spec;
  auto attr = scaled_attributes(question.post_ops, s);
  if (s.source_zero != 0) attr.set_zero_points_mask(DNNL_ARG_SRC, 0);
  using Choice = typename Primitive::primitive_desc;
  Choice choice =
      s.bias.is_zero()
          ? Choice(engine, inference, question.algorithm, s.source, s.weights, s.destination,
                   s.strides, s.dilations, s.pads_begin, s.pads_end, attr, true)
          : Choice(engine, inference, question.algorithm, s.source, s.weights, s.bias,
                   s.destination, s.strides, s.dilations, s.pads_begin, s.pads_end, attr, true);
  return visit_from(choice, visit);
}

}  // namespace

void append_function(dnnl::post_ops& ops, const PostOp& op) {
  ops.append_eltwise(op.algorithm, op.alpha, op.beta);
}

void append_sum(dnnl::post_ops& ops, const PostOp& op) {
  ops.append_sum(op.scale, op.zero, op.type);
}

bool are_kept_apart(const PostOps&) { return true; }

dnnl::primitive_attr product_attributes(const ProductSpec& spec, const PostOps& post_ops) {
  return scaled_attributes(post_ops, spec);
}

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

Kernel with_zero(Kernel kernel, int argument, std::int32_t zero) {
  if (kernel && zero != 0)
    kernel.given_zeros.push_back({DNNL_ARG_ATTR_ZERO_POINTS | argument, zero});
  return kernel;
}

Kernel batch_normalization(const dnnl::engine& engine, const NormalizationSpec& spec) {
  return choose<dnnl::batch_normalization_forward>(engine, attributes({}), inference, spec.source,
                                                   spec.source, spec.epsilon, flags_of(spec));
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

Kernel prelu(const dnnl::engine& engine, const Desc& source, const Desc& slopes) {
  return choose<dnnl::prelu_forward>(engine, attributes({}), inference, source, slopes, source);
}

Kernel concat(const dnnl::engine& engine, int axis, const std::vector<Desc>& sources) {
  return kernel_or_none([&] {
    return kernel_of(dnnl::concat::primitive_desc(engine, axis, sources, attributes({})));
  });
}

Kernel softmax(const dnnl::engine& engine, const Desc& source, int axis, bool logarithm) {
  const auto algorithm =
      logarithm ? dnnl::algorithm::softmax_log : dnnl::algorithm::softmax_accurate;
  return choose<dnnl::softmax_forward>(engine, attributes({}), inference, algorithm, source, source,
                                       axis);
}

Kernel reorder(const dnnl::engine& engine, const Desc& from, const Desc& to,
               const Conversion& conversion) {
  const auto& [scales, from_zero, to_zero] = conversion;
  dnnl::primitive_attr attr = attributes({});
  if (from_zero != 0) attr.set_zero_points_mask(DNNL_ARG_FROM, 0);
  if (to_zero != 0) attr.set_zero_points_mask(DNNL_ARG_TO, 0);
  const bool scales_any = !scales.change_nothing();
  if (scales_any) attr.set_scales_mask(DNNL_ARG_FROM, (1 << scales.leading) - 1);
  Kernel kernel = kernel_of(dnnl::reorder::primitive_desc(engine, from, engine, to, attr, true));
  if (scales_any) kernel.given_scales = {DNNL_ARG_ATTR_SCALES | DNNL_ARG_FROM, scales.factors};
  return with_zero(with_zero(kernel, DNNL_ARG_FROM, from_zero), DNNL_ARG_TO, to_zero);
}

}  // namespace millrace::engine::onednn
