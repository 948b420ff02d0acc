#include "engine/onednn/primitives/primitives.h"

#include <sys/mman.h>

#include <algorithm>
#include <new>

#include "engine/onednn/primitives/choice.h"

namespace millrace::engine::onednn {
namespace {

void append(dnnl::post_ops& ops, const PostOp& op) {
  if (op.kind == PostOp::Kind::eltwise) append_function(ops, op);
  if (op.kind == PostOp::Kind::binary) ops.append_binary(op.algorithm, op.operand);
  if (op.kind == PostOp::Kind::sum) append_sum(ops, op);
}

/// oneDNN says of one too many that memory is short. It is an argument that it refuses.
dnnl::post_ops appended(const PostOps& post_ops) try {
  dnnl::post_ops ops;
  for (const PostOp& op : post_ops) append(ops, op);
  return ops;
} catch (const dnnl::error& error) {
  throw dnnl::error(dnnl_unimplemented, error.what());
}

/// Visits the kernels of all algorithms, direct ones first, until `visit` says true.
void visit_convolutions(const dnnl::engine& engine, const ConvolutionSpec& spec,
                        const PostOps& post_ops, const Visit& visit) {
  using enum dnnl::algorithm;
  for (const auto algorithm : {convolution_direct, convolution_winograd}) try {
      if (visit_kernels(engine, {spec, post_ops, algorithm}, visit)) return;
    } catch (const dnnl::error& error) {
      if (error.status == dnnl_out_of_memory) throw;
    }
}

/// For depthwise convolutions the first choice is slower than the next: 63 to 52 microseconds for
/// 32 channels of 112x112, 10 to 5.5 for 58 of 28x28 (one AVX-512 core).
Kernel skip_slow_depthwise(const dnnl::engine& engine, const Question& question) {
  Kernel chosen;
  visit_kernels(engine, question, [&](const Kernel& kernel) {
    const bool better = !chosen || kernel.family() == KernelFamily::depthwise;
    if (better) chosen = kernel;
    return better && kernel.family() != KernelFamily::depthwise_blocks;
  });
  return chosen;
}

/// Then the first choices have vectors of one pixel: 42 to 8 ms for 256 to 512 channels of 511x1.
bool has_one_column(const ConvolutionSpec& spec) {
  const Dims result = dims_of(spec.destination);
  return result.size() == 4 && result[3] == 1 && result[2] > 1 && !spec.transposed &&
         dims_of(spec.weights).size() == result.size();
}

/// Products of matrices, which oneDNN names among the last; or else the first choice.
Kernel prefer_products(const dnnl::engine& engine, const Question& question) {
  Kernel chosen;
  visit_kernels(engine, question, [&](const Kernel& kernel) {
    const bool is_product = kernel.family() == KernelFamily::generated_product;
    if (!chosen || is_product) chosen = kernel;
    return is_product;
  });
  return chosen;
}

Kernel find_convolution(const dnnl::engine& engine, const ConvolutionSpec& spec,
                        const PostOps& post_ops) {
  const Question direct{spec, post_ops, dnnl::algorithm::convolution_direct};
  if (spec.algorithm.empty() && has_one_column(spec)) return prefer_products(engine, direct);
  if (spec.transposed || spec.algorithm.empty()) return skip_slow_depthwise(engine, direct);
  Kernel found;
  visit_convolutions(engine, spec, post_ops, [&](const Kernel& kernel) {
    if (kernel.name != spec.algorithm) return false;
    found = kernel;
    return true;
  });
  return found;
}

/// If a kernel is there for several instruction sets ("jit:avx512_core", "jit:avx2"), oneDNN names
/// the widest first; the narrower ones do the same with more instructions.
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

KernelFamily family_of(std::string_view name) {
  struct Sign {
    std::string_view part;
    bool is_first;  // the name begins with it
    KernelFamily family;
  };
  using enum KernelFamily;
  static constexpr Sign signs[] = {{"ref", false, reference},
                                   {"simple", true, simple},
                                   {"jit_dw", true, depthwise},
                                   {"brdgmm", true, depthwise_blocks},
                                   {"gemm:jit", false, generated_product},
                                   {"gemm", false, product}};
  for (const Sign& sign : signs)
    if (const std::size_t place = name.find(sign.part);
        place != name.npos && (place == 0 || !sign.is_first))
      return sign.family;
  return other;
}

dnnl::primitive generate(const Kernel& kernel) {
  constexpr std::size_t room = 16 << 20;  // many times the code of any kernel
  void* const probe =
      mmap(nullptr, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (probe == MAP_FAILED) throw std::bad_alloc();
  munmap(probe, room);
  return dnnl::primitive(kernel.choice.get());
}

Kernel kernel_of(const dnnl::primitive_desc_base& choice) {
  if (!choice) return {};
  return {choice, choice.impl_info_str()};
}

dnnl::primitive_attr attributes(const PostOps& post_ops) {
  dnnl::primitive_attr result;
  result.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  result.set_post_ops(appended(post_ops));
  return result;
}

dnnl::normalization_flags flags_of(const NormalizationSpec& spec) {
  using Flags = dnnl::normalization_flags;
  const Flags flags = Flags::use_global_stats | Flags::use_scale | Flags::use_shift;
  return spec.relu ? flags | Flags::fuse_norm_relu : flags;
}

Kernel convolution(const dnnl::engine& engine, const ConvolutionSpec& spec,
                   const PostOps& post_ops) {
  return kernel_or_none([&] {
    const Kernel kernel = find_convolution(engine, spec, post_ops);
    return with_zero(scaled(kernel, spec.scales, spec.rescaling), DNNL_ARG_SRC, spec.source_zero);
  });
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
  if (!are_kept_apart(post_ops)) return {};
  return kernel_or_none([&] {
    const auto attr = product_attributes(s, post_ops);
    const Kernel kernel =
        s.bias.is_zero()
            ? choose<Product>(engine, attr, inference, s.source, s.weights, s.destination)
            : choose<Product>(engine, attr, inference, s.source, s.weights, s.bias, s.destination);
    return scaled(kernel, s.scales, 1);
  });
}

Kernel matrix_product(const dnnl::engine& engine, const ProductSpec& s, const PostOps& post_ops) {
  if (!are_kept_apart(post_ops)) return {};
  return kernel_or_none([&] {
    const auto attr = attributes(post_ops);
    if (s.bias.is_zero())
      return choose<dnnl::matmul>(engine, attr, s.source, s.weights, s.destination);
    return choose<dnnl::matmul>(engine, attr, s.source, s.weights, s.bias, s.destination);
  });
}

Kernel binary(const dnnl::engine& engine, const BinarySpec& s, const PostOps& post_ops) {
  if (!are_kept_apart(post_ops)) return {};
  return kernel_or_none([&] {
    const auto attr = attributes(post_ops);
    return choose<dnnl::binary>(engine, attr, s.algorithm, s.a, s.b, s.destination);
  });
}

Kernel resampling(const dnnl::engine& engine, dnnl::algorithm algorithm, const Desc& source,
                  const Desc& destination) {
  return choose<dnnl::resampling_forward>(engine, attributes({}), inference, algorithm, source,
                                          destination);
}

}  // namespace millrace::engine::onednn
