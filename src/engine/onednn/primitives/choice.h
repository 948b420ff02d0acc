#pragma once
// What a version of oneDNN offers, for what is the same in all: primitives.cpp.
#include <functional>
#include <vector>

#include "engine/onednn/primitives/primitives.h"

namespace millrace::engine::onednn {

Kernel kernel_of(const dnnl::primitive_desc_base& choice);

/// A convolution to be asked for.
struct Question {
  const ConvolutionSpec& spec;
  const PostOps& post_ops;
  dnnl::algorithm algorithm;  // not of a transposed one, which has no choice
};
using Visit = std::function<bool(const Kernel&)>;

/// Visits the kernels, the first choice first, until `visit` says true, which is passed on. May
/// throw dnnl::error.
bool visit_kernels(const dnnl::engine& engine, const Question& question, const Visit& visit);

/// The kernel as one that was asked for with these scales of a spec.
Kernel scaled(Kernel kernel, const std::vector<float>& scales, float rescaling);

}  // namespace millrace::engine::onednn
