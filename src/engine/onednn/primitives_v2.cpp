// For oneDNN 2.x, where a primitive is made from an operation descriptor.
#include <algorithm>
#include <functional>
#include <string_view>

#include "engine/onednn/primitives.h"

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

Kernel kernel_of(const dnnl::primitive_desc_base& choice) {
  if (!choice) return {};
  return {choice, choice.impl_info_str()};
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

/// For depthwise convolutions the first choice is slower than the next: 63 to 52 microseconds for
/// 32 channels of 112x112, 10 to 5.5 for 58 of 28x28 (one AVX-512 core).
Kernel skip_slow_depthwise(dnnl::primitive_desc choice) {
  Kernel first = kernel_of(choice);
  if (!first || !first.name.starts_with("brdgmm")) return first;
  while (choice.next_impl()) {
    Kernel next = kernel_of(choice);
    if (next.name.starts_with("jit_dw")) return next;
  }
  return first;
}

dnnl::convolution_forward::desc convolution_descriptor(const ConvolutionSpec& s,
                                                       dnnl::algorithm algorithm) {
  if (s.bias.is_zero())
    return {inference, algorithm,   s.source,     s.weights, s.destination,
            s.strides, s.dilations, s.pads_begin, s.pads_end};
  return {inference,     algorithm, s.source,    s.weights,    s.bias,
          s.destination, s.strides, s.dilations, s.pads_begin, s.pads_end};
}

using Visit = std::function<bool(const Kernel&)>;

/// Visits the kernels of an algorithm until `visit` says true, which it passes on.
bool visit_kernels(const dnnl::engine& engine, const dnnl::convolution_forward::desc& descriptor,
                   const dnnl::primitive_attr& attributes, const Visit& visit) {
  dnnl::convolution_forward::primitive_desc choice(descriptor, attributes, engine, true);
  if (!choice) return false;
  do {
    if (visit(kernel_of(choice))) return true;
  } while (choice.next_impl());
  return false;
}

/// The same for all algorithms, direct ones first.
void visit_convolutions(const dnnl::engine& engine, const ConvolutionSpec& spec,
                        const PostOps& post_ops, const Visit& visit) {
  using enum dnnl::algorithm;
  for (const auto algorithm : {convolution_direct, convolution_winograd}) try {
      const auto attr = attributes(post_ops, spec.scales);
      if (visit_kernels(engine, convolution_descriptor(spec, algorithm), attr, visit)) return;
    } catch (const dnnl::error& error) {
      if (error.status == dnnl_out_of_memory) throw;
    }
}

Kernel deconvolution(const dnnl::engine& engine, const ConvolutionSpec& s,
                     const PostOps& post_ops) {
  const auto ops = attributes(post_ops, s.scales);
  const auto direct = dnnl::algorithm::deconvolution_direct;
  using Deconvolution = dnnl::deconvolution_forward;
  if (s.bias.is_zero())
    return choose<Deconvolution>(engine, ops, inference, direct, s.source, s.weights, s.destination,
                                 s.strides, s.dilations, s.pads_begin, s.pads_end);
  return choose<Deconvolution>(engine, ops, inference, direct, s.source, s.weights, s.bias,
                               s.destination, s.strides, s.dilations, s.pads_begin, s.pads_end);
}

/// Of one kernel that is there for several instruction sets ("jit:avx512_core", "jit:avx2"), oneDNN
/// names the widest first; the narrower ones do the same with more instructions.
bool is_listed(const std::vector<std::string>& names, const std::string& name) {
  const auto kernel = [](const std::string& full) { return full.substr(0, full.find(':')); };
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& each) { return kernel(each) == kernel(name); });
}

}  // namespace

Desc Kernel::operand(int argument) const {
  return choice.query_md(dnnl::query::exec_arg_md, argument);
}

Desc Kernel::scratchpad() const { return choice.scratchpad_desc(); }

bool Kernel::is_slow() const { return std::string_view(name).find("ref") != std::string::npos; }

Kernel convolution(const dnnl::engine& engine, const ConvolutionSpec& spec,
                   const PostOps& post_ops) try {
  if (spec.transposed) return deconvolution(engine, spec, post_ops);
  if (spec.algorithm.empty())
    return skip_slow_depthwise(dnnl::convolution_forward::primitive_desc(
        convolution_descriptor(spec, dnnl::algorithm::convolution_direct),
        attributes(post_ops, spec.scales), engine, true));
  Kernel found;
  visit_convolutions(engine, spec, post_ops, [&](const Kernel& kernel) {
    if (kernel.name != spec.algorithm) return false;
    found = kernel;
    return true;
  });
  return found;
} catch (const dnnl::error& error) {
  if (error.status == dnnl_out_of_memory) throw;
  return {};
}

std::vector<std::string> convolution_algorithms(const dnnl::engine& engine,
                                                const ConvolutionSpec& spec) {
  std::vector<std::string> names;
  if (Kernel first = convolution(engine, spec, {}); first && !first.is_slow())
    names.push_back(first.name);
  if (spec.transposed) return names;
  visit_convolutions(engine, spec, {}, [&](const Kernel& kernel) {
    if (!kernel.is_slow() && !is_listed(names, kernel.name)) names.push_back(kernel.name);
    return false;
  });
  return names;
}

Kernel inner_product(const dnnl::engine& engine, const ProductSpec& s, const PostOps& post_ops) {
  using Product = dnnl::inner_product_forward;
  const auto attr = attributes(post_ops, s.scales);
  if (s.bias.is_zero())
    return choose<Product>(engine, attr, inference, s.source, s.weights, s.destination);
  return choose<Product>(engine, attr, inference, s.source, s.weights, s.bias, s.destination);
}

Kernel matrix_product(const dnnl::engine& engine, const ProductSpec& s, const PostOps& post_ops) {
  const auto attr = attributes(post_ops, s.scales);
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
