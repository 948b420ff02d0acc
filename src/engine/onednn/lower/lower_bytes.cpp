// Products of 8-bit integers by loops of our own.
#include <algorithm>
#include <memory>
#include <optional>

#include "engine/onednn/lower/lower.h"
#include "kernels/plain/byte_convolution.h"
#include "kernels/plain/byte_numbers.h"

namespace millrace::engine::onednn {
namespace {

using kernels::PackedBytes;
using kernels::PackedConvolution;
using network::ConstView;
using network::DataType;
using network::Shape;
using network::View;

constexpr std::int64_t most_summed = 32'768;  // products of bytes that a sum holds

std::size_t number_of(const Shape& shape) {
  return static_cast<std::size_t>(network::element_count(shape));
}

/// Integers of one or four bytes.
std::int32_t integer_at(const ConstView& view, std::size_t i) {
  if (view.type == DataType::int8) return view.as<std::int8_t>()[i];
  return view.as<std::uint8_t>()[i];
}

/// What a layer multiplies and how the sums become bytes; indices of its inputs. Those of scales
/// count only where the result has one.
struct ByteInputs {
  std::size_t left = 0, left_zero = 2, right = 1, right_zero = 3;
  std::size_t left_scale = 0, right_scale = 0, result_scale = 0, result_zero = 0, bias = 0;
  bool rescales = false;
};
constexpr ByteInputs integer_inputs{};
constexpr ByteInputs quantised_inputs{0, 2, 3, 5, 1, 4, 6, 7, 8, true};

bool present(const network::Layer& layer, std::size_t input) {
  return input < layer.inputs.size() && layer.inputs[input].valid();
}
ConstView input_of(std::span<const ConstView> in, std::size_t i) {
  return i < in.size() ? in[i] : ConstView{};
}

bool holds_bytes(const Builder& builder, const network::Layer& layer, std::size_t input) {
  const DataType type = builder.tensor(layer.inputs[input]).type;
  return type == DataType::int8 || type == DataType::uint8;
}

/// One value for all, or absent.
bool is_single(const Builder& builder, const network::Layer& layer, std::size_t input) {
  return !present(layer, input) || number_of(builder.tensor(layer.inputs[input]).shape) == 1;
}
/// One for all or for each column or filter.
bool is_by_output(const Builder& builder, const network::Layer& layer, std::size_t input,
                  std::size_t outputs) {
  if (is_single(builder, layer, input)) return true;
  const Shape& shape = builder.tensor(layer.inputs[input]).shape;
  return shape.size() == 1 && number_of(shape) == outputs;
}

bool scales_suit(const Builder& builder, const network::Layer& layer, const ByteInputs& at,
                 std::size_t outputs) {
  if (!at.rescales) return true;
  const DataType type = builder.tensor(layer.outputs[0]).type;
  return (type == DataType::int8 || type == DataType::uint8) &&
         is_single(builder, layer, at.left_scale) && is_single(builder, layer, at.result_scale) &&
         is_single(builder, layer, at.result_zero) &&
         is_by_output(builder, layer, at.right_scale, outputs) &&
         builder.tensor(layer.inputs[at.left_scale]).type == DataType::float32;
}

/// From sums to bytes, as the run's inputs say it.
class SumScales {
 public:
  SumScales(std::span<const ConstView> in, const ByteInputs& at, std::size_t outputs, DataType type)
      : factors_(outputs) {
    const ConstView& scales = in[at.right_scale];
    const bool single = network::element_count({scales.shape.begin(), scales.shape.end()}) == 1;
    for (std::size_t i = 0; i < outputs; ++i)
      factors_[i] = in[at.left_scale].as<float>()[0] * scales.as<float>()[single ? 0 : i] /
                    in[at.result_scale].as<float>()[0];
    const ConstView bias = at.bias == 0 ? ConstView{} : input_of(in, at.bias);
    const ConstView zero = input_of(in, at.result_zero);
    rescaling_ = {bias.present() ? bias.as<std::int32_t>() : nullptr, factors_.data(),
                  zero.present() ? integer_at(zero, 0) : 0, type == DataType::int8};
  }

  const kernels::ByteRescaling& rescaling() const { return rescaling_; }

 private:
  std::vector<float> factors_;
  kernels::ByteRescaling rescaling_;
};

std::int32_t zero_of(std::span<const ConstView> in, std::size_t input) {
  const ConstView zero = input_of(in, input);
  return zero.present() ? integer_at(zero, 0) : 0;
}

// Matrices

struct ByteMatrices {
  ByteInputs at;
  DataType type = DataType::int32;  // of the result
  std::size_t batch = 1, rows = 1, depth = 1, columns = 1;
};

std::optional<ByteMatrices> matrices_of(const Builder& builder, const network::Layer& layer) {
  ByteMatrices m;
  m.at =
      std::holds_alternative<network::MatMulInteger>(layer.op) ? integer_inputs : quantised_inputs;
  m.at.bias = 0;
  const Shape& a = builder.tensor(layer.inputs[m.at.left]).shape;
  const Shape& b = builder.tensor(layer.inputs[m.at.right]).shape;
  if (a.size() < 2 || b.size() < 2 || a.back() > most_summed) return std::nullopt;
  m.type = builder.tensor(layer.outputs[0]).type;
  m.depth = static_cast<std::size_t>(a.back());
  m.columns = static_cast<std::size_t>(b.back());
  const std::size_t all_rows = number_of(a) / std::max<std::size_t>(m.depth, 1);
  if (b.size() > 2) {
    if (!std::equal(a.begin(), a.end() - 2, b.begin(), b.end() - 2)) return std::nullopt;
    m.rows = static_cast<std::size_t>(a[a.size() - 2]);
    m.batch = all_rows / std::max<std::size_t>(m.rows, 1);
  } else {
    m.rows = all_rows;
  }
  const bool suits = holds_bytes(builder, layer, m.at.left) &&
                     holds_bytes(builder, layer, m.at.right) &&
                     is_single(builder, layer, m.at.left_zero) &&
                     is_by_output(builder, layer, m.at.right_zero, m.columns) &&
                     scales_suit(builder, layer, m.at, m.columns);
  return suits ? std::optional(m) : std::nullopt;
}

/// One of the right matrices less its zero points.
PackedBytes packed_matrix(const ByteMatrices& m, const ConstView& right, const ConstView& zero,
                          std::size_t number) {
  const std::size_t size = m.depth * m.columns;
  std::vector<std::int16_t> columns(size);
  const bool by_column =
      zero.present() && network::element_count({zero.shape.begin(), zero.shape.end()}) != 1;
  for (std::size_t i = 0; i < size; ++i) {
    const std::size_t k = i / m.columns, c = i % m.columns;
    const std::int32_t less = zero.present() ? integer_at(zero, by_column ? c : 0) : 0;
    columns[c * m.depth + k] =
        static_cast<std::int16_t>(integer_at(right, number * size + i) - less);
  }
  return {columns, m.columns};
}

struct ByteProductLoop {
  ByteMatrices m;
  std::vector<PackedBytes> packed;  // empty: the right matrices are no constants

  void run(std::span<const ConstView> in, std::span<const View> out) const {
    for (std::size_t b = 0; b < m.batch; ++b) {
      if (!packed.empty())
        multiply(packed[b], b, in, out[0]);
      else
        multiply(packed_matrix(m, in[m.at.right], input_of(in, m.at.right_zero), b), b, in, out[0]);
    }
  }

 private:
  void multiply(const PackedBytes& right, std::size_t number, std::span<const ConstView> in,
                const View& out) const {
    const ConstView& left = in[m.at.left];
    const bool is_signed = left.type == DataType::int8;
    kernels::ByteRows rows{m.rows, zero_of(in, m.at.left_zero) + (is_signed ? 128 : 0), {}};
    rows.bytes = left.as<std::uint8_t>() + number * m.rows * m.depth;
    rows.is_signed = is_signed;
    const std::size_t begin = number * m.rows * m.columns;
    if (m.at.rescales) {
      const SumScales scales(in, m.at, m.columns, m.type);
      right.multiply(rows, {scales.rescaling(), out.as<std::uint8_t>() + begin, m.columns});
      return;
    }
    right.multiply(rows, [&](std::size_t first, std::size_t count, const std::int32_t* sums) {
      for (std::size_t r = 0; r < count; ++r)
        std::copy_n(sums + r * right.width(), m.columns,
                    out.as<std::int32_t>() + begin + (first + r) * m.columns);
    });
  }
};

// Convolutions

/// Bytes that sums become have the channels innermost, as the input has then.
struct ByteConvolutionLoop {
  ByteInputs at;
  DataType type = DataType::int32;  // of the result
  kernels::ByteConvolution convolution;
  std::optional<PackedConvolution> packed;

  void run(std::span<const ConstView> in, std::span<const View> out) const {
    const auto* const from = in[at.left].as<std::uint8_t>();
    const std::int32_t zero = zero_of(in, at.left_zero);
    if (at.rescales) {
      const SumScales scales(in, at, convolution.filters, type);
      packed->run(from, zero, {scales.rescaling(), out[0].as<std::uint8_t>(), convolution.filters});
      return;
    }
    packed->run(from, zero, [&](const PackedConvolution::Sums& sums) {
      write_sums(sums, out[0].as<std::int32_t>());
    });
  }

 private:
  /// From pixel by pixel to filter by filter.
  void write_sums(const PackedConvolution::Sums& sums, std::int32_t* to) const {
    const std::size_t first = sums.image * convolution.filters + sums.first_filter;
    for (std::size_t f = 0; f < sums.filters; ++f) {
      std::int32_t* const row = to + (first + f) * convolution.pixels() + sums.pixel;
      for (std::size_t p = 0; p < sums.count; ++p) row[p] = sums.values[p * sums.apart + f];
    }
  }
};

kernels::ByteWindow byte_window(const network::Window& window, std::size_t d, std::int64_t input,
                                std::int64_t output) {
  const auto at = [d](const Shape& sizes) { return static_cast<std::size_t>(sizes[d]); };
  return {static_cast<std::size_t>(input),
          static_cast<std::size_t>(output),
          at(window.kernel),
          at(window.strides),
          at(window.dilations),
          window.pads_begin[d]};
}

/// The convolution of images with one or two dimensions; nothing if this loop does not suit.
std::optional<ByteConvolutionLoop> convolution_of(const Builder& builder,
                                                  const network::Layer& layer) {
  ByteConvolutionLoop loop;
  const auto* plain = std::get_if<network::ConvInteger>(&layer.op);
  loop.at = plain ? integer_inputs : quantised_inputs;
  const network::Window& window =
      plain ? plain->window : std::get<network::QLinearConv>(layer.op).window;
  const network::Tensor &x = builder.tensor(layer.inputs[loop.at.left]),
                        &w = builder.tensor(layer.inputs[loop.at.right]),
                        &y = builder.tensor(layer.outputs[0]);
  const std::size_t dimensions = x.shape.size() - 2;
  if (dimensions < 1 || dimensions > 2 || !w.constant) return std::nullopt;
  kernels::ByteConvolution& c = loop.convolution;
  c.images = static_cast<std::size_t>(x.shape[0]);
  c.channels = static_cast<std::size_t>(x.shape[1]);
  c.filters = static_cast<std::size_t>(w.shape[0]);
  c.groups = static_cast<std::size_t>(plain ? plain->groups
                                            : std::get<network::QLinearConv>(layer.op).groups);
  if (dimensions == 2) c.height = byte_window(window, 0, x.shape[2], y.shape[2]);
  c.width = byte_window(window, dimensions - 1, x.shape.back(), y.shape.back());
  c.is_signed = x.type == DataType::int8;
  loop.type = y.type;
  const bool zero_suits = !present(layer, loop.at.right_zero) ||
                          builder.tensor(layer.inputs[loop.at.right_zero]).constant;
  const bool suits = zero_suits && number_of(w.shape) / c.filters <= most_summed &&
                     holds_bytes(builder, layer, loop.at.left) &&
                     holds_bytes(builder, layer, loop.at.right) &&
                     is_single(builder, layer, loop.at.left_zero) &&
                     is_by_output(builder, layer, loop.at.right_zero, c.filters) &&
                     scales_suit(builder, layer, loop.at, c.filters);
  return suits ? std::optional(std::move(loop)) : std::nullopt;
}

std::vector<std::int16_t> weights_of(const Builder& builder, const network::Layer& layer,
                                     const ByteConvolutionLoop& loop) {
  const ConstView w = network::constant_view(builder.tensor(layer.inputs[loop.at.right]));
  const bool has_zero = present(layer, loop.at.right_zero);
  const ConstView zero =
      has_zero ? network::constant_view(builder.tensor(layer.inputs[loop.at.right_zero]))
               : ConstView{};
  const bool single = has_zero && is_single(builder, layer, loop.at.right_zero);
  std::vector<std::int16_t> weights(number_of(builder.tensor(layer.inputs[loop.at.right]).shape));
  const std::size_t of_filter = weights.size() / loop.convolution.filters;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const std::int32_t less = has_zero ? integer_at(zero, single ? 0 : i / of_filter) : 0;
    weights[i] = static_cast<std::int16_t>(integer_at(w, i) - less);
  }
  return weights;
}

}  // namespace

bool lower_byte_product(Builder& builder, LayerId id) {
  const network::Layer& layer = builder.layer(id);
  const auto matrices = matrices_of(builder, layer);
  if (!matrices) return false;
  auto loop = std::make_shared<ByteProductLoop>();  // shared by copies of the step
  loop->m = *matrices;
  const network::Tensor& right = builder.tensor(layer.inputs[matrices->at.right]);
  const bool has_zero = present(layer, matrices->at.right_zero);
  const network::Tensor* zero =
      has_zero ? &builder.tensor(layer.inputs[matrices->at.right_zero]) : nullptr;
  if (right.constant && (!zero || zero->constant))
    for (std::size_t b = 0; b < matrices->batch; ++b)
      loop->packed.push_back(packed_matrix(*matrices, network::constant_view(right),
                                           zero ? network::constant_view(*zero) : ConstView{}, b));
  loops(
      builder, id, [loop](auto in, auto out) { loop->run(in, out); }, "byte_product");
  return true;
}

bool lower_byte_convolution(Builder& builder, LayerId id) {
  const network::Layer& layer = builder.layer(id);
  auto found = convolution_of(builder, layer);
  if (!found) return false;
  auto loop = std::make_shared<ByteConvolutionLoop>(std::move(*found));  // by copies of the step
  loop->packed.emplace(loop->convolution, weights_of(builder, layer, *loop));
  const PlainLoop run = [loop](auto in, auto out) { loop->run(in, out); };
  if (loop->at.rescales)
    loops_channels_last(builder, id, run, "byte_convolution");
  else
    loops(builder, id, run, "byte_convolution");
  return true;
}

}  // namespace millrace::engine::onednn
