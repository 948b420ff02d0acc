#include "engine/onednn/primitives/quantize.h"

#include <algorithm>
#include <cmath>

namespace millrace::engine::onednn {
namespace {

constexpr float smallest_scale = 1e-30f;

/// f(c x) = c f(x) for c > 0, so that a factor may come before or after it.
bool is_homogeneous(const PostOp& op) {
  return op.kind == PostOp::Kind::sum ||
         (op.kind == PostOp::Kind::eltwise && op.algorithm == dnnl::algorithm::eltwise_relu);
}

}  // namespace

bool is_quantized(const Desc& desc) {
  return !desc.is_zero() && (type_of(desc) == Type::u8 || type_of(desc) == Type::s8);
}

Quantization symmetric_quantization(const network::Range& range) {
  if (range.low >= 0) return {Type::u8, {std::max(range.high / 255, smallest_scale), 0}};
  return {Type::s8, {std::max({range.high / 127, -range.low / 127, smallest_scale}), 0}};
}

Quantization whole_quantization(const network::Range& range) {
  const float low = std::min(range.low, 0.f), high = std::max(range.high, 0.f);
  const float scale = std::max((high - low) / 255, smallest_scale);
  const float zero = std::clamp(std::nearbyint(-low / scale), 0.f, 255.f);
  return {Type::u8, {scale, static_cast<std::int32_t>(zero)}};
}

std::vector<float> channel_scales(const network::Array& weights, const Desc& given, int leading) {
  const Dims dims = dims_of(given), strides = dense_strides(given).value();
  const std::span<const float> values = weights.values<float>();
  std::int64_t channels = 1, inner = 1;
  for (std::size_t d = 0; d < dims.size(); ++d)
    (d < static_cast<std::size_t>(leading) ? channels : inner) *= dims[d];
  std::vector<float> largest(static_cast<std::size_t>(channels), 0.f);
  for (std::int64_t i = 0; i < channels * inner; ++i) {
    std::int64_t rest = i, offset = 0;
    for (std::size_t d = dims.size(); d-- > 0; rest /= dims[d])
      offset += rest % dims[d] * strides[d];
    float& most = largest[static_cast<std::size_t>(i / inner)];
    most = std::max(most, std::abs(values[static_cast<std::size_t>(offset)]));
  }
  for (float& scale : largest) scale = scale > 0 ? scale / 127 : 1.f;
  return largest;
}

Rescaling rescale(PostOps post_ops, const Encoding& result, const Quantization& residual) {
  const bool early =
      result.zero == 0 && std::all_of(post_ops.begin(), post_ops.end(), is_homogeneous);
  for (PostOp& op : post_ops)
    if (op.kind == PostOp::Kind::sum) {
      op.scale = early ? residual.encoding.scale / result.scale : residual.encoding.scale;
      op.zero = residual.encoding.zero;
      op.type = residual.type;
    }
  if (!early)
    post_ops.push_back({PostOp::Kind::eltwise,
                        dnnl::algorithm::eltwise_linear,
                        1 / result.scale,
                        static_cast<float>(result.zero),
                        {}});
  return {early ? 1 / result.scale : 1.f, std::move(post_ops)};
}

}  // namespace millrace::engine::onednn
