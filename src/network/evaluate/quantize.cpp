// QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear.
#include <algorithm>
#include <array>

#include "network/evaluate/loops.h"
#include "network/evaluate/types.h"

namespace millrace::network::loops {
namespace {

/// Neighbouring elements, the first one's scale, and how far it is to the next one's.
struct QuantisedRow {
  std::int64_t first = 0, size = 0, scale = 0, step = 0;
};

/// Calls body(row) for all of a tensor's elements.
template <class Body>
void for_each_row(const Scaling& scaling, const ConstView& x, const ConstView& scale, Body body) {
  if (count(scale.shape) == 1) return body(QuantisedRow{0, count(x.shape), 0, 0});
  const AroundAxis axis = around(x.shape, scaling.axis);
  const std::int64_t block = std::max<std::int64_t>(scaling.block, 1);
  const std::int64_t blocks = (axis.size + block - 1) / block;
  const std::int64_t rows = axis.outer * axis.size;
  if (scaling.block == 0 && axis.inner == 1) {
    for (std::int64_t o = 0; o < axis.outer; ++o)
      body(QuantisedRow{o * axis.size, axis.size, 0, 1});
  } else {
    for (std::int64_t r = 0; r < rows; ++r) {
      const std::int64_t at = r % axis.size / block;
      if (scaling.block == 0)
        body(QuantisedRow{r * axis.inner, axis.inner, at, 0});
      else
        body(QuantisedRow{r * axis.inner, axis.inner, (r / axis.size * blocks + at) * axis.inner,
                          1});
    }
  }
}

template <class F>
void visit_small(DataType type, F&& f) {
  switch (type) {
    case DataType::int8:
      return f(std::type_identity<std::int8_t>{});
    case DataType::uint8:
      return f(std::type_identity<std::uint8_t>{});
    case DataType::int16:
      return f(std::type_identity<std::int16_t>{});
    default:
      assert(type == DataType::uint16);
      return f(std::type_identity<std::uint16_t>{});
  }
}

/// The bounds are whole numbers, so clamping first changes nothing, and it keeps the sum with
/// 1.5 * 2^23 where float32 has whole numbers only: adding it rounds, halves to the even one. Not
/// a number becomes the least one.
template <class Q>
Q quantized(float x, float scale, float zero) {
  using Limits = std::numeric_limits<Q>;
  const float low = static_cast<float>(Limits::lowest()) - zero;
  const float high = static_cast<float>(Limits::max()) - zero;
  float value = x / scale;
  value = value > low ? value : low;
  value = value < high ? value : high;
  value = (value + 0x1.8p23f) - 0x1.8p23f;
  return static_cast<Q>(static_cast<std::int32_t>(value + zero));
}

template <class X, class Q>
void quantize(const QuantizeLinear& op, Inputs in, const View& out) {
  const ConstView zero = optional_input(in, 2);
  for_each_row(op.scaling, in[0], in[1], [&](const QuantisedRow& row) {
    const X* x = in[0].as<X>() + row.first;
    Q* y = out.as<Q>() + row.first;
    const float* scale = in[1].as<float>() + row.scale;
    const auto zero_at = [&](std::int64_t i) {
      return zero.present() ? static_cast<float>(zero.as<Q>()[row.scale + i]) : 0.0f;
    };
    if (row.step == 0) {
      const float own_scale = *scale, own_zero = zero_at(0);
      for (std::int64_t i = 0; i < row.size; ++i)
        y[i] = quantized<Q>(static_cast<float>(x[i]), own_scale, own_zero);
    } else {
      for (std::int64_t i = 0; i < row.size; ++i)
        y[i] = quantized<Q>(static_cast<float>(x[i]), scale[i], zero_at(i));
    }
  });
}

/// Differences of 32-bit integers may need more bits.
template <class Q>
using Difference = std::conditional_t<sizeof(Q) == 4, std::int64_t, std::int32_t>;

template <class Q>
void dequantize(const DequantizeLinear& op, Inputs in, const View& out) {
  const ConstView zero = optional_input(in, 2);
  for_each_row(op.scaling, in[0], in[1], [&](const QuantisedRow& row) {
    const Q* x = in[0].as<Q>() + row.first;
    float* y = out.as<float>() + row.first;
    const float* scale = in[1].as<float>() + row.scale;
    const auto zero_at = [&](std::int64_t i) {
      return zero.present() ? Difference<Q>{zero.as<Q>()[row.scale + i]} : Difference<Q>{0};
    };
    if (row.step == 0) {
      const float own_scale = *scale;
      const Difference<Q> own_zero = zero_at(0);
      for (std::int64_t i = 0; i < row.size; ++i)
        y[i] = static_cast<float>(Difference<Q>{x[i]} - own_zero) * own_scale;
    } else {
      for (std::int64_t i = 0; i < row.size; ++i)
        y[i] = static_cast<float>(Difference<Q>{x[i]} - zero_at(i)) * scale[i];
    }
  });
}

}  // namespace

void run(const QuantizeLinear& op, Inputs in, Outputs out) {
  visit_small(out[0].type, [&]<class Q>(std::type_identity<Q>) {
    in[0].type == DataType::int32 ? quantize<std::int32_t, Q>(op, in, out[0])
                                  : quantize<float, Q>(op, in, out[0]);
  });
}

void run(const DequantizeLinear& op, Inputs in, Outputs out) {
  if (in[0].type == DataType::int32) return dequantize<std::int32_t>(op, in, out[0]);
  visit_small(in[0].type, [&]<class Q>(std::type_identity<Q>) { dequantize<Q>(op, in, out[0]); });
}

void run(const DynamicQuantizeLinear&, Inputs in, Outputs out) {
  const float* x = in[0].as<float>();
  const std::int64_t n = count(in[0].shape);
  float low = 0, high = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    low = std::min(low, x[i]);
    high = std::max(high, x[i]);
  }
  const float scale = high == low ? 1.0f : (high - low) / 255.0f;
  const std::uint8_t zero = quantized<std::uint8_t>(-low, scale, 0);
  if (out[1].present()) *out[1].as<float>() = scale;
  if (out[2].present()) *out[2].as<std::uint8_t>() = zero;
  if (!out[0].present()) return;
  const std::array<ConstView, 3> inputs{
      in[0],
      {DataType::float32, {}, reinterpret_cast<const std::byte*>(&scale)},
      {DataType::uint8, {}, reinterpret_cast<const std::byte*>(&zero)}};
  run(QuantizeLinear{}, inputs, out.first(1));
}

}  // namespace millrace::network::loops
