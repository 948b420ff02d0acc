#pragma once
// Primitives, as this engine uses them. How they are made differs between oneDNN's versions:
// primitives_v2.cpp and primitives_v3.cpp.
#include <oneapi/dnnl/dnnl.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/onednn/primitives/layout.h"

namespace millrace::engine::onednn {

/// What is multiplied with on the way: one number, or one by index of the leading dimensions.
struct Scales {
  std::vector<float> factors{1.f};
  int leading = 0;
  bool change_nothing() const { return leading == 0 && factors[0] == 1.f; }
};

/// Numbers that a kernel is to be given with each run, as a vector of float32.
struct GivenScales {
  int argument = 0;  // DNNL_ARG_ATTR_SCALES and the operand's
  std::vector<float> factors;
};
/// An integer that a kernel is to be given with each run.
struct GivenZero {
  int argument = 0;  // DNNL_ARG_ATTR_ZERO_POINTS and the operand's
  std::int32_t zero = 0;
};

/// Families of oneDNN's kernels that we treat differently. oneDNN says which it is by name alone.
enum class KernelFamily {
  other,
  reference,         // loops over single numbers, orders of magnitude slower than the others
  simple,            // the same for pooling, not as slow
  depthwise,         // generated code for depthwise convolutions
  depthwise_blocks,  // the same by products of blocks
  generated_product, // products of matrices in float32 by generated code, for x86 alone
  product            // other products of matrices
};
KernelFamily family_of(std::string_view name);

/// What oneDNN chose to run, before code is generated for it. False: it cannot do it.
struct Kernel {
  dnnl::primitive_desc_base choice = {};
  std::string name = {};                         // "jit:avx512_core"
  Scales bias = {};                              // what its bias is to be multiplied with before
  std::optional<GivenScales> given_scales = {};  // beside its operands
  std::vector<GivenZero> given_zeros = {};       // the same

  explicit operator bool() const { return static_cast<bool>(choice); }
  /// How an operand (DNNL_ARG_...) must lie.
  Desc operand(int argument) const;
  Desc scratchpad() const;
  KernelFamily family() const { return family_of(name); }
  bool is_slow() const { return family() == KernelFamily::reference; }
};

/// With the code that it runs. std::bad_alloc if memory is short: oneDNN would crash.
dnnl::primitive generate(const Kernel& kernel);

/// Something done to the result before it is stored.
struct PostOp {
  enum class Kind { eltwise, binary, sum };
  Kind kind = Kind::eltwise;
  dnnl::algorithm algorithm = dnnl::algorithm::eltwise_relu;
  float alpha = 0, beta = 0;
  Desc operand;             // of a binary
  float scale = 1;          // of a sum: what the old content is multiplied with
  std::int32_t zero = 0;    // of a sum: what is subtracted from the old content first
  Type type = Type::undef;  // of a sum: the type of the old content, if not the result's
};
using PostOps = std::vector<PostOp>;

struct ConvolutionSpec {
  bool transposed = false;
  std::string algorithm;  // a kernel's name; empty: the best that oneDNN thinks it has
  Desc source, weights, bias, destination;  // bias may be empty
  Dims strides, dilations, pads_begin, pads_end;
  std::vector<float> scales = {};  // by channel: what sums of integers are multiplied with
  float rescaling = 1;             // and what the bias, which is for real numbers, then is
  std::int32_t source_zero = 0;    // the integer that stands for 0, also where the source is padded
};
Kernel convolution(const dnnl::engine& engine, const ConvolutionSpec& spec,
                   const PostOps& post_ops);
/// The names of all kernels for it but the slow ones, the first choice first, each once.
std::vector<std::string> convolution_algorithms(const dnnl::engine& engine,
                                                const ConvolutionSpec& spec);

struct ProductSpec {
  Desc source, weights, bias, destination;  // bias may be empty
  std::vector<float> scales = {};           // by column, as in a convolution
};
/// Weights have the shape (outputs, inputs).
Kernel inner_product(const dnnl::engine& engine, const ProductSpec& spec, const PostOps& post_ops);
Kernel matrix_product(const dnnl::engine& engine, const ProductSpec& spec, const PostOps& post_ops);

struct NormalizationSpec {
  Desc source;
  float epsilon = 0;
  bool relu = false;
};
/// With the operands MEAN, VARIANCE, SCALE and SHIFT.
Kernel batch_normalization(const dnnl::engine& engine, const NormalizationSpec& spec);

struct LrnSpec {
  Desc source;
  Dims::value_type size = 1;
  float alpha = 0, beta = 0, bias = 1;
};
Kernel lrn(const dnnl::engine& engine, const LrnSpec& spec);

struct PoolingSpec {
  dnnl::algorithm algorithm = dnnl::algorithm::pooling_max;
  Desc source, destination;
  Dims strides, kernel, pads_begin, pads_end;
};
Kernel pooling(const dnnl::engine& engine, const PoolingSpec& spec);

Kernel eltwise(const dnnl::engine& engine, const Desc& source, const PostOp& function);

struct BinarySpec {
  dnnl::algorithm algorithm = dnnl::algorithm::binary_add;
  Desc a, b, destination;
};
Kernel binary(const dnnl::engine& engine, const BinarySpec& spec, const PostOps& post_ops);
Kernel prelu(const dnnl::engine& engine, const Desc& source, const Desc& slopes);
Kernel concat(const dnnl::engine& engine, int axis, const std::vector<Desc>& sources);
Kernel softmax(const dnnl::engine& engine, const Desc& source, int axis, bool logarithm);
Kernel resampling(const dnnl::engine& engine, dnnl::algorithm algorithm, const Desc& source,
                  const Desc& destination);
/// How numbers become others: (n - from_zero) * scales + to_zero.
struct Conversion {
  Scales scales = {};
  std::int32_t from_zero = 0, to_zero = 0;
};
Kernel reorder(const dnnl::engine& engine, const Desc& from, const Desc& to,
               const Conversion& conversion);

}  // namespace millrace::engine::onednn
