// To and from 8-bit integers, and from integers to numbers, by loops of our own.
#include <algorithm>

#include "engine/onednn/lower/lower.h"
#include "kernels/plain/byte_numbers.h"
#include "kernels/plain/casts.h"

namespace millrace::engine::onednn {
namespace {

using network::ConstView;
using network::DataType;
using network::View;

std::int32_t byte_at(const ConstView& view, std::size_t i) {
  return view.type == DataType::int8 ? std::int32_t{view.as<std::int8_t>()[i]}
                                     : std::int32_t{view.as<std::uint8_t>()[i]};
}

/// Neighbouring elements with one scale, and how many such rows there are.
struct ScaledRows {
  std::size_t count = 1, size = 1, scales = 1;
};

/// Nothing where neighbours have different scales.
std::optional<ScaledRows> scaled_rows(const Builder& builder, const network::Layer& layer,
                                      const network::Scaling& scaling) {
  const network::Shape& shape = builder.tensor(layer.inputs[0]).shape;
  const auto all = static_cast<std::size_t>(network::element_count(shape));
  const network::Shape& scales = builder.tensor(layer.inputs[1]).shape;
  if (network::element_count(scales) == 1) return ScaledRows{1, all, 1};
  if (scaling.block != 0 || scales.size() != 1) return std::nullopt;
  ScaledRows rows{1, 1, static_cast<std::size_t>(scales[0])};
  for (std::size_t d = 0; d < shape.size(); ++d)
    (static_cast<std::int64_t>(d) <= scaling.axis ? rows.count : rows.size) *=
        static_cast<std::size_t>(shape[d]);
  if (rows.size < 16) return std::nullopt;
  return rows;
}

kernels::ByteScale scale_of_row(const ScaledRows& rows, std::size_t row,
                                std::span<const ConstView> in, DataType type) {
  const std::size_t at = row % rows.scales;
  const bool has_zero = in.size() > 2 && in[2].present();
  return {in[1].as<float>()[at], has_zero ? byte_at(in[2], at) : 0, type == DataType::int8};
}

/// A loop and its name.
struct NamedLoop {
  PlainLoop run;
  const char* kernel;
};

/// With one scale each element stays where it is.
void run_rows(Builder& builder, LayerId id, const ScaledRows& rows, const NamedLoop& loop) {
  const bool stays = rows.count == 1 && rows.scales == 1;
  if (stays && builder.is_channels_last(builder.layer(id).inputs[0]))
    loops_channels_last(builder, id, loop.run, loop.kernel);
  else
    loops(builder, id, loop.run, loop.kernel);
}

void run_dynamic_quantize(std::span<const ConstView> in, std::span<const View> out) {
  const auto count = network::element_count({in[0].shape.begin(), in[0].shape.end()});
  const std::span<const float> x(in[0].as<float>(), static_cast<std::size_t>(count));
  const kernels::NumberRange range = kernels::range_of(x);
  kernels::ByteScale scale;
  if (range.high != range.low) scale.scale = (range.high - range.low) / 255.0f;
  const float lowest = -range.low;
  std::uint8_t zero = 0;
  kernels::quantize_numbers({&lowest, 1}, scale, &zero);
  scale.zero = zero;
  if (out[1].present()) *out[1].as<float>() = scale.scale;
  if (out[2].present()) *out[2].as<std::uint8_t>() = zero;
  if (out[0].present()) kernels::quantize_numbers(x, scale, out[0].as<std::uint8_t>());
}

std::size_t count_of_view(const View& view) {
  return static_cast<std::size_t>(network::element_count({view.shape.begin(), view.shape.end()}));
}

template <class Integer>
void cast_to_float(std::span<const ConstView> in, std::span<const View> out) {
  kernels::write_numbers_of(std::span(in[0].as<Integer>(), count_of_view(out[0])),
                            out[0].as<float>());
}

/// Nothing for a type that is left to the plain loops.
PlainLoop cast_loop(DataType type) {
  switch (type) {
    case DataType::int8:
      return cast_to_float<std::int8_t>;
    case DataType::uint8:
      return cast_to_float<std::uint8_t>;
    case DataType::int32:
      return cast_to_float<std::int32_t>;
    case DataType::int64:
      return cast_to_float<std::int64_t>;
    case DataType::boolean:
      return [](std::span<const ConstView> in, std::span<const View> out) {
        kernels::write_truths_of({in[0].as<std::uint8_t>(), count_of_view(out[0])},
                                 out[0].as<float>());
      };
    default:
      return {};
  }
}

}  // namespace

bool lower_cast(Builder& builder, LayerId id) {
  const network::Layer& layer = builder.layer(id);
  const PlainLoop loop = cast_loop(builder.tensor(layer.inputs[0]).type);
  if (!loop || builder.tensor(layer.outputs[0]).type != DataType::float32) return false;
  loops(builder, id, loop, "cast");
  return true;
}

bool lower_quantize(Builder& builder, LayerId id) {
  if (lower_between_bytes(builder, id)) return true;
  const network::Layer& layer = builder.layer(id);
  const auto rows =
      scaled_rows(builder, layer, std::get<network::QuantizeLinear>(layer.op).scaling);
  const DataType type = builder.tensor(layer.outputs[0]).type;
  if (!rows || !is_byte(type) || builder.tensor(layer.inputs[0]).type != DataType::float32 ||
      builder.tensor(layer.inputs[1]).type != DataType::float32)
    return false;
  const auto loop = [rows = *rows, type](std::span<const ConstView> in, std::span<const View> out) {
    for (std::size_t row = 0; row < rows.count; ++row)
      kernels::quantize_numbers({in[0].as<float>() + row * rows.size, rows.size},
                                scale_of_row(rows, row, in, type),
                                out[0].as<std::uint8_t>() + row * rows.size);
  };
  run_rows(builder, id, *rows, {loop, "quantize"});
  return true;
}

bool lower_dequantize(Builder& builder, LayerId id) {
  if (vanishes_between_bytes(builder, id)) return true;
  const network::Layer& layer = builder.layer(id);
  const auto rows =
      scaled_rows(builder, layer, std::get<network::DequantizeLinear>(layer.op).scaling);
  const DataType type = builder.tensor(layer.inputs[0]).type;
  if (!rows || !is_byte(type) || builder.tensor(layer.outputs[0]).type != DataType::float32)
    return false;
  const auto loop = [rows = *rows, type](std::span<const ConstView> in, std::span<const View> out) {
    for (std::size_t row = 0; row < rows.count; ++row)
      kernels::dequantize_bytes({in[0].as<std::uint8_t>() + row * rows.size, rows.size},
                                scale_of_row(rows, row, in, type),
                                out[0].as<float>() + row * rows.size);
  };
  run_rows(builder, id, *rows, {loop, "dequantize"});
  return true;
}

bool lower_dynamic_quantize(Builder& builder, LayerId id) {
  const network::Layer& layer = builder.layer(id);
  if (builder.tensor(layer.inputs[0]).type != DataType::float32) return false;
  loops(builder, id, run_dynamic_quantize, "dynamic_quantize");
  return true;
}

}  // namespace millrace::engine::onednn
