#pragma once
// Inside primitives.h: what a version of oneDNN offers (primitives_v2.cpp, primitives_v3.cpp), and
// what is the same in all (primitives.cpp).
#include <functional>
#include <utility>
#include <vector>

#include "engine/onednn/primitives/primitives.h"

namespace millrace::engine::onednn {

inline constexpr auto inference = dnnl::prop_kind::forward_inference;

Kernel kernel_of(const dnnl::primitive_desc_base& choice);

/// With a scratchpad that the caller gives.
dnnl::primitive_attr attributes(const PostOps& post_ops);

dnnl::normalization_flags flags_of(const NormalizationSpec& spec);

/// An argument that oneDNN refuses is the same answer as a kernel that it lacks.
template <class Choose>
Kernel kernel_or_none(const Choose& choose) try {
  return choose();
} catch (const dnnl::error& error) {
  if (error.status == dnnl_out_of_memory) throw;
  return {};
}

/// The primitive with these arguments. In oneDNN 2 they describe an operation first.
template <class Primitive, class... Arguments>
Kernel choose(const dnnl::engine& engine, const dnnl::primitive_attr& attributes,
              const Arguments&... arguments) {
  using Choice = typename Primitive::primitive_desc;
  return kernel_or_none([&] {
    if constexpr (requires { typename Primitive::desc; })
      return kernel_of(Choice(typename Primitive::desc(arguments...), attributes, engine, true));
    else
      return kernel_of(Choice(engine, arguments..., attributes, true));
  });
}

// By the version:

void append_function(dnnl::post_ops& ops, const PostOp& op);
void append_sum(dnnl::post_ops& ops, const PostOp& op);
/// Whether the kernels run these as they are written.
bool are_kept_apart(const PostOps& post_ops);
dnnl::primitive_attr product_attributes(const ProductSpec& spec, const PostOps& post_ops);

/// A convolution to be asked for.
struct Question {
  const ConvolutionSpec& spec;
  const PostOps& post_ops;
  dnnl::algorithm algorithm;  // not of a transposed one, which has no choice
};
using Visit = std::function<bool(const Kernel&)>;

/// This kernel and the next ones, until `visit` says true.
template <class Choice>
bool visit_from(Choice& choice, const Visit& visit) {
  if (!choice) return false;
  do {
    if (visit(kernel_of(choice))) return true;
  } while (choice.next_impl());
  return false;
}

/// Visits the kernels, the first choice first, until `visit` says true, which is passed on. May
/// throw dnnl::error.
bool visit_kernels(const dnnl::engine& engine, const Question& question, const Visit& visit);

/// The kernel as one that was asked for with these scales of a spec.
Kernel scaled(Kernel kernel, const std::vector<float>& scales, float rescaling);
/// The same with an integer of an operand that stands for 0.
Kernel with_zero(Kernel kernel, int argument, std::int32_t zero);

}  // namespace millrace::engine::onednn
