// For oneDNN 2.x, where a primitive is made from an operation descriptor.
#include "engine/onednn/primitives/choice.h"

namespace millrace::engine::onednn {
namespace {

/// What sums of integers are multiplied with is part of the primitive.
dnnl::primitive_attr scaled_attributes(const PostOps& post_ops, const std::vector<float>& scales) {
  constexpr int by_channel = 1 << 1;
  dnnl::primitive_attr result = attributes(post_ops);
  if (!scales.empty()) result.set_output_scales(by_channel, scales);
  return result;
}

void set_zero(dnnl::primitive_attr& attributes, int argument, std::int32_t zero) {
  if (zero != 0) attributes.set_zero_points(argument, 0, {zero});
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
  return visit_from(choice, visit);
}

}  // namespace

void append_function(dnnl::post_ops& ops, const PostOp& op) {
  ops.append_eltwise(1.f, op.algorithm, op.alpha, op.beta);
}

void append_sum(dnnl::post_ops& ops, const PostOp& op) {
  ops.append_sum(op.scale, op.zero, op.type);
}

/// Kernels keep the parameters of functions under the name of the algorithm, so that two functions
/// of one algorithm run with the same ones.
bool are_kept_apart(const PostOps& post_ops) {
  for (const PostOp& a : post_ops)
    for (const PostOp& b : post_ops)
      if (a.kind == PostOp::Kind::eltwise && b.kind == a.kind && a.algorithm == b.algorithm &&
          (a.alpha != b.alpha || a.beta != b.beta))
        return false;
  return true;
}

dnnl::primitive_attr product_attributes(const ProductSpec& spec, const PostOps& post_ops) {
  return scaled_attributes(post_ops, spec.scales);
}

bool visit_kernels(const dnnl::engine& engine, const Question& question, const Visit& visit) {
  const ConvolutionSpec& spec = question.spec;
  if (!are_kept_apart(question.post_ops)) return false;
  auto attr = scaled_attributes(question.post_ops, spec.scales);
  set_zero(attr, DNNL_ARG_SRC, spec.source_zero);
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

/// It is part of the primitive.
Kernel with_zero(Kernel kernel, int, std::int32_t) { return kernel; }

Kernel batch_normalization(const dnnl::engine& engine, const NormalizationSpec& spec) {
  return choose<dnnl::batch_normalization_forward>(engine, attributes({}), inference, spec.source,
                                                   spec.epsilon, flags_of(spec));
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

Kernel prelu(const dnnl::engine& engine, const Desc& source, const Desc& slopes) {
  return choose<dnnl::prelu_forward>(engine, attributes({}), inference, source, slopes);
}

Kernel concat(const dnnl::engine& engine, int axis, const std::vector<Desc>& sources) {
  return kernel_or_none([&] {
    return kernel_of(dnnl::concat::primitive_desc(axis, sources, engine, attributes({})));
  });
}

Kernel softmax(const dnnl::engine& engine, const Desc& source, int axis, bool logarithm) {
  if (logarithm)
    return choose<dnnl::logsoftmax_forward>(engine, attributes({}), inference, source, axis);
  return choose<dnnl::softmax_forward>(engine, attributes({}), inference, source, axis);
}

Kernel reorder(const dnnl::engine& engine, const Desc& from, const Desc& to,
               const Conversion& conversion) {
  const Scales& scales = conversion.scales;
  dnnl::primitive_attr attr = attributes({});
  set_zero(attr, DNNL_ARG_FROM, conversion.from_zero);
  set_zero(attr, DNNL_ARG_TO, conversion.to_zero);
  if (!scales.change_nothing()) attr.set_output_scales((1 << scales.leading) - 1, scales.factors);
  return kernel_of(dnnl::reorder::primitive_desc(engine, from, engine, to, attr, true));
}

}  // namespace millrace::engine::onednn
