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

bool is_byte(DataType type) { return type == DataType::int8 || type == DataType::uint8; }

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
    builder.loops_channels_last(id, loop.run, loop.kernel);
  else
    builder.loops(id, loop.run, loop.kernel);
}

/// One scale and zero point, known before any frame.
bool has_known_scale(const Builder& builder, const network::Layer& layer) {
  const auto is_known = [&](std::size_t input) {
    if (input >= layer.inputs.size() || !layer.inputs[input].valid()) return true;
    const network::Tensor& tensor = builder.tensor(layer.inputs[input]);
    return tensor.constant.has_value() && network::element_count(tensor.shape) == 1;
  };
  return is_known(1) && is_known(2) && builder.tensor(layer.inputs[1]).type == DataType::float32;
}

kernels::ByteScale known_scale(const Builder& builder, const network::Layer& layer, DataType type) {
  const auto view = [&](std::size_t input) {
    return network::constant_view(builder.tensor(layer.inputs[input]));
  };
  const bool has_zero = layer.inputs.size() > 2 && layer.inputs[2].valid();
  return {view(1).as<float>()[0], has_zero ? byte_at(view(2), 0) : 0, type == DataType::int8};
}

bool holds_some_bytes(const network::Tensor& tensor) {
  return is_byte(tensor.type) && !tensor.shape.empty() && tensor.shape.size() <= 6 &&
         network::element_count(tensor.shape) > 0;
}

/// Whether all that reads the layer's numbers makes 8-bit integers of them again: then nobody
/// stores the numbers.
bool is_requantized(const Builder& builder, LayerId id) {
  const network::Layer& layer = builder.layer(id);
  const TensorId numbers = layer.outputs[0];
  const auto requantizes = [&](LayerId reader) {
    const network::Layer& other = builder.layer(reader);
    return builder.has(reader) && std::holds_alternative<network::QuantizeLinear>(other.op) &&
           other.inputs[0] == numbers && has_known_scale(builder, other) &&
           is_byte(builder.tensor(other.outputs[0]).type);
  };
  return std::holds_alternative<network::DequantizeLinear>(layer.op) &&
         builder.tensor(numbers).type == DataType::float32 && !builder.is_output(numbers) &&
         holds_some_bytes(builder.tensor(layer.inputs[0])) && has_known_scale(builder, layer) &&
         std::ranges::all_of(builder.readers(numbers), requantizes);
}

/// Reads the integers that the numbers were made of.
bool lower_requantize(Builder& builder, LayerId id) {
  const network::Layer& layer = builder.layer(id);
  const auto source = builder.producer(layer.inputs[0]);
  if (!source || !builder.has(*source) || !is_requantized(builder, *source)) return false;
  const network::Layer& dequantize = builder.layer(*source);
  const network::Tensor &in = builder.tensor(dequantize.inputs[0]),
                        &out = builder.tensor(layer.outputs[0]);
  const bool channels_last = builder.is_channels_last(dequantize.inputs[0]);
  const auto layout = [&](const network::Tensor& its) {
    const Type type = its.type == DataType::int8 ? Type::s8 : Type::u8;
    return channels_last ? channels_last_desc(its.shape, type) : row_major_desc(its.shape, type);
  };
  Value from = channels_last ? builder.channels_last(dequantize.inputs[0])
                             : builder.plain(dequantize.inputs[0]);
  from.desc = layout(in);
  const auto loop = [count = static_cast<std::size_t>(network::element_count(in.shape)),
                     before = known_scale(builder, dequantize, in.type),
                     after = known_scale(builder, layer, out.type)](const OwnPlaces& at) {
    kernels::requantize_bytes({reinterpret_cast<const std::uint8_t*>(at.from), count}, before,
                              after, reinterpret_cast<std::uint8_t*>(at.to));
  };
  builder.run({from, builder.make(layer.outputs[0], layout(out)), loop}, "requantize");
  return true;
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
  builder.loops(id, loop, "cast");
  return true;
}

bool lower_quantize(Builder& builder, LayerId id) {
  if (lower_requantize(builder, id)) return true;
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
  if (is_requantized(builder, id)) return true;
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
  builder.loops(id, run_dynamic_quantize, "dynamic_quantize");
  return true;
}

}  // namespace millrace::engine::onednn
